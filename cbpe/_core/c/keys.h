/* The key of a piece (cbpe/_core/text/keys.pxd says what it holds), and what it takes to make one of a short piece. */
#ifndef CBPE_KEYS_H
#define CBPE_KEYS_H

#include <stdint.h>

typedef struct {
    uint64_t low, high;
} cbpe_key;

/* The bytes of a short piece that the two words of its key hold: by its size, from 0 to 15. */
#define CBPE_LOW_BYTES(n) ((n) >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * ((n) & 7)) - 1)
#define CBPE_HIGH_BYTES(n) ((n) > 8 ? ((uint64_t)1 << 8 * ((n) & 7)) - 1 : 0)
#define CBPE_KEY_MASK(n) {CBPE_LOW_BYTES(n), CBPE_HIGH_BYTES(n)}

static const uint64_t cbpe_key_masks[16][2] = {
    CBPE_KEY_MASK(0), CBPE_KEY_MASK(1), CBPE_KEY_MASK(2), CBPE_KEY_MASK(3), CBPE_KEY_MASK(4), CBPE_KEY_MASK(5),
    CBPE_KEY_MASK(6), CBPE_KEY_MASK(7), CBPE_KEY_MASK(8), CBPE_KEY_MASK(9), CBPE_KEY_MASK(10), CBPE_KEY_MASK(11),
    CBPE_KEY_MASK(12), CBPE_KEY_MASK(13), CBPE_KEY_MASK(14), CBPE_KEY_MASK(15),
};

#endif
