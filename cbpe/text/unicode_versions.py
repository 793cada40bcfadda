"""Sets of characters by the versions of Unicode that Hugging Face's `tokenizers` goes by in its several parts.

Each is written as the inside of a class of an expression, with the escapes that `re` and split patterns share.
"""

__all__ = ["LATER_LOWERCASE", "LATER_THAN_9", "MARKS_IN_9_ALONE", "NUMERIC", "PUNCTUATION", "WHITE_SPACE", "WORD"]

# White_Space, which has not changed since Unicode 6.3. (Python's str.strip takes U+001C to U+001F as well.)
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003"
    "\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

# Marks, and characters that normalization changes or joins, which came after Unicode 9.0 (up to 17.0). Normalization by
# 9.0 does not know them: they stay as they are, and nothing is joined or put in order across them.
LATER_THAN_9 = (
    r"\u07fd\u0897-\u089f\u08ca-\u08d3\u09fe\u0afa-\u0aff\u0b55\u0c04\u0c3c\u0cf3\u0d00\u0d3b\u0d3c\u0d81\u0eba"
    r"\u0ece\u1715\u180f\u1abf-\u1ace\u1cf7\u1df6-\u1dfa\u32ff\ua7f2-\ua7f4\ua82c\ua8ff\uab69\U000105c9\U000105d2"
    r"\U000105da\U000105e4\U00010781-\U00010785\U00010787-\U000107b0\U000107b2-\U000107ba\U00010d24-\U00010d27"
    r"\U00010d69-\U00010d6d\U00010eab\U00010eac\U00010efc-\U00010eff\U00010f46-\U00010f50\U00010f82-\U00010f85"
    r"\U00011070\U00011073\U00011074\U000110c2\U00011145\U00011146\U000111c9\U000111ce\U000111cf\U00011241"
    r"\U0001133b\U00011382-\U00011385\U0001138b\U0001138e\U00011390\U00011391\U000113b8-\U000113c0\U000113c2"
    r"\U000113c5\U000113c7-\U000113ca\U000113cc-\U000113d0\U000113d2\U000113e1\U000113e2\U0001145e"
    r"\U0001182c-\U0001183a\U00011930-\U00011935\U00011937\U00011938\U0001193b-\U0001193e\U00011940\U00011942"
    r"\U00011943\U000119d1-\U000119d7\U000119da-\U000119e0\U000119e4\U00011a01-\U00011a0a\U00011a33-\U00011a39"
    r"\U00011a3b-\U00011a3e\U00011a47\U00011a51-\U00011a5b\U00011a8a-\U00011a99\U00011d31-\U00011d36\U00011d3a"
    r"\U00011d3c\U00011d3d\U00011d3f-\U00011d45\U00011d47\U00011d8a-\U00011d8e\U00011d90\U00011d91"
    r"\U00011d93-\U00011d97\U00011ef3-\U00011ef6\U00011f00\U00011f01\U00011f03\U00011f34-\U00011f3a"
    r"\U00011f3e-\U00011f42\U00011f5a\U00013440\U00013447-\U00013455\U0001611e-\U0001612f\U00016d63"
    r"\U00016d67-\U00016d6a\U00016f4f\U00016f7f-\U00016f87\U00016fe4\U00016ff0\U00016ff1\U0001ccd6-\U0001ccf9"
    r"\U0001cf00-\U0001cf2d\U0001cf30-\U0001cf46\U0001e030-\U0001e06d\U0001e08f\U0001e130-\U0001e136\U0001e2ae"
    r"\U0001e2ec-\U0001e2ef\U0001e4ec-\U0001e4ef\U0001e5ee\U0001e5ef\U0001f16c\U0001fbf0-\U0001fbf9\u1acf-\u1add"
    r"\u1ae0-\u1aeb\ua7f1\U00010efa\U00010efb\U00011b60-\U00011b67\U0001e6e3\U0001e6e6\U0001e6ee\U0001e6ef"
    r"\U0001e6f5"
)
MARKS_IN_9_ALONE = "\u1cf2\u1cf3"  # letters since Unicode 12.0

# What is a number to Rust: category N of Unicode 17.0, where the split patterns go by 16.0.
NUMERIC = r"\p{N}\U00011de0-\U00011de9\U00016ff4-\U00016ff6"

# What is part of a word to Rust's expressions: Alphabetic, category M, Nd and Pc, and the joiners.
WORD = (
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\u200c\u200d\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169"
    "\U0001f170-\U0001f189"
)

# ASCII punctuation, and category P of Unicode 8.0.
PUNCTUATION = (
    r"\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf\u037e\u0387"
    r"\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u0609\u060a\u060c\u060d\u061b\u061e\u061f"
    r"\u066a-\u066d\u06d4\u0700-\u070d\u07f7-\u07f9\u0830-\u083e\u085e\u0964\u0965\u0970\u0af0\u0df4\u0e4f\u0e5a"
    r"\u0e5b\u0f04-\u0f12\u0f14\u0f3a-\u0f3d\u0f85\u0fd0-\u0fd4\u0fd9\u0fda\u104a-\u104f\u10fb\u1360-\u1368\u1400"
    r"\u166d\u166e\u169b\u169c\u16eb-\u16ed\u1735\u1736\u17d4-\u17d6\u17d8-\u17da\u1800-\u180a\u1944\u1945\u1a1e"
    r"\u1a1f\u1aa0-\u1aa6\u1aa8-\u1aad\u1b5a-\u1b60\u1bfc-\u1bff\u1c3b-\u1c3f\u1c7e\u1c7f\u1cc0-\u1cc7\u1cd3"
    r"\u2010-\u2027\u2030-\u2043\u2045-\u2051\u2053-\u205e\u207d\u207e\u208d\u208e\u2308-\u230b\u2329\u232a"
    r"\u2768-\u2775\u27c5\u27c6\u27e6-\u27ef\u2983-\u2998\u29d8-\u29db\u29fc\u29fd\u2cf9-\u2cfc\u2cfe\u2cff\u2d70"
    r"\u2e00-\u2e2e\u2e30-\u2e42\u3001-\u3003\u3008-\u3011\u3014-\u301f\u3030\u303d\u30a0\u30fb\ua4fe\ua4ff"
    r"\ua60d-\ua60f\ua673\ua67e\ua6f2-\ua6f7\ua874-\ua877\ua8ce\ua8cf\ua8f8-\ua8fa\ua8fc\ua92e\ua92f\ua95f"
    r"\ua9c1-\ua9cd\ua9de\ua9df\uaa5c-\uaa5f\uaade\uaadf\uaaf0\uaaf1\uabeb\ufd3e\ufd3f\ufe10-\ufe19\ufe30-\ufe52"
    r"\ufe54-\ufe61\ufe63\ufe68\ufe6a\ufe6b\uff01-\uff03\uff05-\uff0a\uff0c-\uff0f\uff1a\uff1b\uff1f\uff20"
    r"\uff3b-\uff3d\uff3f\uff5b\uff5d\uff5f-\uff65\U00010100-\U00010102\U0001039f\U000103d0\U0001056f\U00010857"
    r"\U0001091f\U0001093f\U00010a50-\U00010a58\U00010a7f\U00010af0-\U00010af6\U00010b39-\U00010b3f"
    r"\U00010b99-\U00010b9c\U00011047-\U0001104d\U000110bb\U000110bc\U000110be-\U000110c1\U00011140-\U00011143"
    r"\U00011174\U00011175\U000111c5-\U000111c9\U000111cd\U000111db\U000111dd-\U000111df\U00011238-\U0001123d"
    r"\U000112a9\U000114c6\U000115c1-\U000115d7\U00011641-\U00011643\U0001173c-\U0001173e\U00012470-\U00012474"
    r"\U00016a6e\U00016a6f\U00016af5\U00016b37-\U00016b3b\U00016b44\U0001bc9f\U0001da87-\U0001da8b"
)

# Lower case that came between Unicode 13.0, which the oldest Python knows, and 17.0: the first and the last upper case
# letter of a run, how far apart they stand, and the lower case of the first.
LATER_LOWERCASE = (
    (0x1C89, 0x1C89, 1, 0x1C8A),
    (0x2C2F, 0x2C2F, 1, 0x2C5F),
    (0xA7C0, 0xA7C0, 1, 0xA7C1),
    (0xA7CB, 0xA7CB, 1, 0x0264),
    (0xA7CC, 0xA7D4, 2, 0xA7CD),
    (0xA7D6, 0xA7DA, 2, 0xA7D7),
    (0xA7DC, 0xA7DC, 1, 0x019B),
    (0x10570, 0x1057A, 1, 0x10597),
    (0x1057C, 0x1058A, 1, 0x105A3),
    (0x1058C, 0x10592, 1, 0x105B3),
    (0x10594, 0x10595, 1, 0x105BB),
    (0x10D50, 0x10D65, 1, 0x10D70),
    (0x16EA0, 0x16EB8, 1, 0x16EBB),
)
