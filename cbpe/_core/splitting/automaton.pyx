"""Compiles a parsed split pattern to a deterministic automaton that finds what a backtracking engine would.

The way is Thompson's and Pike's: the pattern becomes a graph of nodes that read a character, look at one, or offer two
ways of which the first is preferred; a state of the automaton is the list of nodes that the engine could be at, in its
order of preference. A match that is reached drops all that is less preferred after it. (Ken Thompson, "Regular
expression search algorithm", 1968; Russ Cox, "Regular expression matching: the virtual machine approach", 2009.)

Empty pieces are of no use, so the empty match is no match here: of the non-empty ones, the first in the order of
preference counts. This is also what findall of `re` and `regex` comes to, which never take an empty match twice at one
place.

What looks back needs to know how the characters before end: this is the context, a set of bits. A row of sets to look
back at has a bit for each of its sets, which says that the last characters were of the sets up to this one (Baeza-Yates
and Gonnet, "A new approach to text searching", 1992). A state is of one context. There is a start for each; a pattern
is refused where it may matter which one, so that the pieces never depend on what is before the first.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from cbpe._core.splitting.characters cimport unsupported
from cbpe._core.splitting.classes cimport END_OF_TEXT, MAX_CLASSES, Classes
from cbpe._core.splitting.pattern cimport (
    BEHIND, CHOICE, END, LAZY, LOOK, POSSESSIVE, REPEAT, SEQUENCE, SET, Pattern
)

cdef enum:
    MAX_NODES = 2000
    MAX_WORK = 4_000_000  # visits to nodes while building: some 20 ms
    MAX_CONTEXTS = 64
    MAX_CONTEXT_BITS = 64

cdef enum Kind:
    READ  # one character of `mask`, then `first`
    CHECK  # the next character, which stays unread, is of `mask`; then `first`
    BACK  # the context has bits of `mask`, or has not where `second` is 1; then `first`
    FORK  # `first`, or else `second`
    ACCEPT

cdef uint64_t END_BIT = <uint64_t> 1 << END_OF_TEXT


cdef struct Node:
    Kind kind
    uint16_t first
    uint16_t second
    uint64_t mask


cdef class Automaton:
    """The table of transitions."""


cdef class Builder:
    """Holds the graph of nodes and the states found so far."""

    cdef Node nodes[MAX_NODES]
    cdef int n_nodes
    cdef list masks
    cdef uint64_t all_classes
    cdef long work
    # For walks over the graph: a node is visited once in a walk.
    cdef int visited[MAX_NODES]
    cdef int walk
    cdef uint16_t stack[2 * MAX_NODES]
    cdef uint16_t found[MAX_NODES]
    cdef int n_found
    # A state's key is its nodes in their order, as the bytes of uint16_t, and the number of its context.
    cdef dict numbers
    cdef list keys
    # Contexts by their numbers, as bits; the first is that of the beginning of a text.
    cdef list contexts
    # Where each class leads from them.
    cdef uint8_t next_context[MAX_CONTEXTS][MAX_CLASSES]
    cdef list context_sets  # the set of each bit of a context
    cdef uint64_t first_bits
    cdef dict last_bits  # id of a tree that looks back -> the bits of which one has to be there
    cdef dict exact  # id of a possessive repeat that is no greedy one -> it
    cdef bint portable
    cdef uint16_t next_state[MAX_STATES][MAX_CLASSES]
    cdef uint8_t accepts[MAX_STATES][MAX_CLASSES]
    cdef bint certain[MAX_STATES]

    # The syntax tree to the graph, from the end to the beginning.

    cdef int node(self, Kind kind, uint64_t mask, int first, int second) except -1:
        if self.n_nodes == MAX_NODES:
            raise unsupported("so many alternatives and repetitions")
        self.nodes[self.n_nodes] = Node(kind, <uint16_t> first, <uint16_t> second, mask)
        self.n_nodes += 1
        return self.n_nodes - 1

    cdef int build(self, tuple tree, int follow) except -1:
        """The first node of what matches the tree and goes on at the node `follow`."""
        cdef int kind = tree[0], first, way
        self.count_work(1)
        if kind == SET:
            return self.node(READ, <uint64_t> self.masks[tree[1]], follow, 0)
        if kind == LOOK or kind == END:
            return self.node(CHECK, self.condition(tree), follow, 0)
        if kind == BEHIND:
            return self.node(BACK, <uint64_t> self.last_bits[id(tree)], follow, <int> tree[2])
        if kind == SEQUENCE:
            for item in reversed(<list> tree[1]):
                follow = self.build(item, follow)
            return follow
        if kind == CHOICE:
            first = -1
            for item in reversed(<list> tree[1]):
                way = self.build(item, follow)
                first = way if first < 0 else self.node(FORK, 0, way, first)
            return first
        if id(tree) in self.exact:
            return self.build_possessive(tree, follow)
        return self.build_repeat(tree[1], tree[2], tree[3], tree[4] == LAZY, follow)

    cdef int build_possessive(self, tuple tree, int follow) except -1:
        """A repeat of one set that gives nothing back: as many as may be, or fewer before what is not of the set."""
        cdef int least = tree[2], most = tree[3]
        cdef uint64_t mask = self.masks[tree[1][1]]
        cdef int ended = self.node(CHECK, (self.all_classes | END_BIT) & ~mask, follow, 0)
        if most == -1:
            return self.build_repeat(tree[1], least, -1, False, ended)
        return self.node(
            FORK, 0, self.build_repeat(tree[1], most, most, False, follow),
            self.build_repeat(tree[1], least, most - 1, False, ended),
        )

    cdef int build_repeat(self, tuple body, int least, int most, bint lazy, int follow) except -1:
        cdef int entry = follow, fork, _
        if most == -1:
            fork = self.node(FORK, 0, 0, 0)
            entry = self.build(body, fork)
            self.prefer(fork, entry, follow, lazy)
            if least == 0:
                entry = fork
            least -= 1
        else:
            for _ in range(most - least):
                fork = self.node(FORK, 0, 0, 0)
                self.prefer(fork, self.build(body, entry), follow, lazy)
                entry = fork
        for _ in range(least):
            entry = self.build(body, entry)
        return entry

    cdef void prefer(self, int fork, int once_more, int leave, bint lazy) noexcept:
        self.nodes[fork].first = <uint16_t> (leave if lazy else once_more)
        self.nodes[fork].second = <uint16_t> (once_more if lazy else leave)

    cdef int count_work(self, int visits) except -1:
        self.work += visits
        if self.work > MAX_WORK:
            raise unsupported("so many combinations of alternatives and repetitions")
        return 0

    cdef uint64_t condition(self, tuple tree) except? 0:
        """What an assertion lets pass, the end of the text included."""
        if tree[0] == END:
            return END_BIT
        cdef uint64_t mask = self.masks[tree[1]]
        return (self.all_classes | END_BIT) & ~mask if tree[2] else mask

    # The graph to states.

    cdef int next_node(self, int *depth) except -2:
        """The next node on the stack that is no fork, and was not come by in this walk; -1 where there is none."""
        cdef uint16_t at
        while depth[0]:
            depth[0] -= 1
            at = self.stack[depth[0]]
            if self.visited[at] == self.walk:
                continue
            self.visited[at] = self.walk
            self.count_work(1)
            if self.nodes[at].kind != FORK:
                return at
            self.stack[depth[0]] = self.nodes[at].second
            self.stack[depth[0] + 1] = self.nodes[at].first
            depth[0] += 2
        return -1

    cdef int closure(self, const uint16_t *nodes, int count) except -1:
        """Follow the forks: the nodes that read, look or accept, in order of preference, into `found`.

        What would come after an acceptance is dropped.
        """
        cdef int i, depth, at
        self.walk += 1
        self.n_found = 0
        for i in range(count):
            self.stack[0] = nodes[i]
            depth = 1
            at = self.next_node(&depth)
            while at >= 0:
                self.found[self.n_found] = <uint16_t> at
                self.n_found += 1
                if self.nodes[at].kind == ACCEPT:
                    return 0
                at = self.next_node(&depth)
        return 0

    cdef bint read(self, const uint16_t *nodes, int count, int of_class, bint is_start, uint64_t context) except -1:
        """Where a character leads, into `found`; the answer is whether a match ends before it."""
        cdef int i, depth, at
        cdef uint64_t bit = <uint64_t> 1 << of_class
        self.walk += 1
        self.n_found = 0
        for i in range(count):
            self.stack[0] = nodes[i]
            depth = 1
            at = self.next_node(&depth)
            while at >= 0:
                if self.nodes[at].kind == ACCEPT:
                    if not is_start:
                        return True
                elif self.nodes[at].kind == BACK:
                    if (self.nodes[at].mask & context != 0) != (self.nodes[at].second == 1):
                        self.stack[depth] = self.nodes[at].first
                        depth += 1
                elif self.nodes[at].mask & bit:
                    if self.nodes[at].kind == CHECK:
                        self.stack[depth] = self.nodes[at].first
                        depth += 1
                    else:
                        self.found[self.n_found] = self.nodes[at].first
                        self.n_found += 1
                at = self.next_node(&depth)
        return False

    cdef int state_of_found(self, int context) except -1:
        """The number of the state whose nodes are the closure of `found`, in a context."""
        cdef uint16_t targets[MAX_NODES]
        cdef int i, count = self.n_found
        for i in range(count):
            targets[i] = self.found[i]
        self.closure(targets, count)
        if self.n_found == 0:
            return DEAD
        cdef tuple key = ((<const char *> self.found)[: 2 * self.n_found], context)
        number = self.numbers.get(key)
        if number is None:
            number = len(self.keys)
            if number == MAX_STATES:
                raise unsupported(f"more than {MAX_STATES} states")
            self.numbers[key] = number
            self.keys.append(key)
        return number

    cdef int explore(self, int n_classes, int start_node) except -1:
        """Find all states and where each class of characters leads from them."""
        cdef int state = START, of_class, context, n_contexts = <int> len(self.contexts)
        cdef bint is_start
        cdef bytes key
        cdef const uint16_t *nodes
        self.found[0] = <uint16_t> start_node
        # The starts are states of their own, because only there an empty match is no match.
        self.numbers = {}
        self.keys = [(b"", 0)]
        for context in range(n_contexts):
            self.keys.append(((<const char *> self.found)[:2], context))
        while state < len(self.keys):
            key, context = self.keys[state]
            nodes = <const uint16_t *> <const char *> key
            is_start = state < START + n_contexts
            bits = <uint64_t> self.contexts[context]
            for of_class in range(n_classes):
                self.accepts[state][of_class] = self.read(nodes, <int> (len(key) // 2), of_class, is_start, bits)
                self.next_state[state][of_class] = <uint16_t> self.state_of_found(self.next_context[context][of_class])
            self.accepts[state][END_OF_TEXT] = self.read(nodes, <int> (len(key) // 2), END_OF_TEXT, is_start, bits)
            self.next_state[state][END_OF_TEXT] = DEAD
            state += 1
        return 0

    # Looking back.

    cdef int place_rows(self, tuple tree) except -1:
        """Give bits to all rows of sets that the tree looks back at."""
        cdef uint64_t last = 0
        if tree[0] == BEHIND:
            for row in tree[1]:
                if len(self.context_sets) + len(row) > MAX_CONTEXT_BITS:
                    raise unsupported(f"looking back at more than {MAX_CONTEXT_BITS} characters in all")
                self.first_bits |= <uint64_t> 1 << len(self.context_sets)
                self.context_sets += row
                last |= <uint64_t> 1 << (len(self.context_sets) - 1)
            self.last_bits[id(tree)] = last
        elif tree[0] == SEQUENCE or tree[0] == CHOICE:
            for item in tree[1]:
                self.place_rows(item)
        elif tree[0] == REPEAT:
            self.place_rows(tree[1])
        return 0

    cdef int find_contexts(self, int n_classes) except -1:
        """All contexts, and where each class of characters leads from them."""
        cdef uint64_t of_class_bits[MAX_CLASSES]
        cdef uint64_t bits
        cdef int of_class, bit, number = 0
        for of_class in range(n_classes):
            of_class_bits[of_class] = 0
            for bit in range(<int> len(self.context_sets)):
                if <uint64_t> self.masks[self.context_sets[bit]] >> of_class & 1:
                    of_class_bits[of_class] |= <uint64_t> 1 << bit
        self.contexts = [0]
        cdef dict numbers = {0: 0}
        while number < len(self.contexts):
            bits = <uint64_t> self.contexts[number]
            for of_class in range(n_classes):
                after = ((bits << 1) & ~self.first_bits | self.first_bits) & of_class_bits[of_class]
                if after not in numbers:
                    if len(self.contexts) == MAX_CONTEXTS:
                        raise unsupported("looking back in so many ways")
                    numbers[after] = len(self.contexts)
                    self.contexts.append(after)
                self.next_context[number][of_class] = <uint8_t> numbers[after]
            number += 1
        return 0

    cdef int join_starts(self, int n_classes) except -1:
        """Make all starts one. PatternNotSupported where it may matter what is before a piece.

        A match may begin in a context before a class of characters: at the beginning of a text before any; where
        another match ends; and after a character at which none begins.
        """
        cdef int n_contexts = <int> len(self.contexts), context, of_class, state, after, joined
        cdef uint64_t may_begin[MAX_CONTEXTS]
        cdef set reached = set()
        cdef object before = None
        for context in range(n_contexts):
            may_begin[context] = 0
        may_begin[0] = self.all_classes
        while before != (len(reached), [may_begin[context] for context in range(n_contexts)]):
            before = (len(reached), [may_begin[context] for context in range(n_contexts)])
            for context in range(n_contexts):
                for of_class in range(n_classes):
                    if may_begin[context] >> of_class & 1:
                        after = self.next_state[START + context][of_class]
                        reached.add(after)
                        if not self.certain[after]:
                            may_begin[self.next_context[context][of_class]] = self.all_classes
            for state in list(reached):
                context = self.keys[state][1]
                for of_class in range(n_classes):
                    if self.accepts[state][of_class]:
                        may_begin[context] |= <uint64_t> 1 << of_class
                    reached.add(self.next_state[state][of_class])
        for of_class in range(n_classes):
            joined = -1
            for context in range(n_contexts):
                after = self.next_state[START + context][of_class]
                if may_begin[context] >> of_class & 1:
                    if joined not in (-1, after):
                        raise unsupported("looking back from where a piece begins to what is before it")
                    joined = after
            for context in range(n_contexts):
                self.next_state[START + context][of_class] = <uint16_t> joined
        return 0

    cdef int find_certain(self, int n_classes) except -1:
        """Which states find a match before the next character or later, whatever comes: no mark is needed for them."""
        cdef int n_states = <int> len(self.keys), state
        cdef bint changed = True
        for state in range(n_states):
            self.certain[state] = state != DEAD
        while changed:
            changed = False
            for state in range(n_states):
                if self.certain[state] and not self.stays_certain(state, n_classes):
                    self.certain[state] = False
                    changed = True
        return 0

    cdef bint stays_certain(self, int state, int n_classes) noexcept:
        cdef int of_class
        for of_class in range(n_classes):
            if not self.accepts[state][of_class] and not self.certain[self.next_state[state][of_class]]:
                return False
        return self.accepts[state][END_OF_TEXT]

    cdef uint16_t entry(self, int state, int of_class) noexcept:
        """One entry of the table of transitions: what the walker shall do (see automaton.pxd)."""
        cdef int after = self.next_state[state][of_class]
        cdef int restarted = self.next_state[START][of_class]
        cdef int mark = MARK if self.accepts[state][of_class] else 0
        if after == DEAD:
            if mark and restarted != DEAD and of_class != END_OF_TEXT:
                return <uint16_t> (restarted << STATE_SHIFT | BOUNDARY)
            return <uint16_t> (DEAD << STATE_SHIFT | mark | STOP)
        return <uint16_t> (after << STATE_SHIFT | (0 if self.certain[after] else mark))

    cdef uint64_t first_of(self, tuple tree, uint64_t follow) except? 0:
        """The classes that may come next where the tree matches and then what may begin with `follow`."""
        cdef int kind = tree[0]
        cdef uint64_t mask = 0
        if kind == SET:
            return <uint64_t> self.masks[tree[1]]
        if kind == LOOK or kind == END:
            return self.condition(tree) & follow
        if kind == BEHIND:
            return follow
        if kind == SEQUENCE:
            for item in reversed(<list> tree[1]):
                follow = self.first_of(item, follow)
            return follow
        if kind == CHOICE:
            for item in <list> tree[1]:
                mask |= self.first_of(item, follow)
            return mask
        mask = self.first_of(tree[1], follow)
        return mask | follow if tree[2] == 0 else mask

    cdef int check(self, tuple tree, uint64_t follow, bint follow_is_sure) except -1:
        """Refuse repeats that engines differ about, and possessive ones that are not certain to equal greedy ones.

        What follows the tree may begin with `follow`, and matches at every place if `follow_is_sure`. A possessive
        repeat is a greedy one where the engine would never come back to it (what follows is sure), or would in vain
        (what follows cannot begin with what it gives back). -> whether the tree and what follows match at every place:
        1 or 0
        """
        cdef int kind = tree[0]
        cdef bint sure = False, body_sure
        self.count_work(1)
        if kind == SET or kind == BEHIND:
            return 0
        if kind == LOOK or kind == END:
            return self.condition(tree) == self.all_classes | END_BIT and follow_is_sure
        if kind == SEQUENCE:
            for item in reversed(<list> tree[1]):
                follow_is_sure = self.check(item, follow, follow_is_sure)
                follow = self.first_of(item, follow)
            return follow_is_sure
        if kind == CHOICE:
            for item in <list> tree[1]:
                sure |= self.check(item, follow, follow_is_sure)
            return sure
        body, least, most, greed = tree[1:]
        if greed == POSSESSIVE and not follow_is_sure and (body[0] != SET or follow & <uint64_t> self.masks[body[1]]):
            if self.portable or body[0] != SET:
                raise unsupported("a possessive repeat or an atomic group that may differ from a greedy one")
            if least != most:
                self.exact[id(tree)] = tree
        if can_be_empty(body) and (greed == POSSESSIVE or least != 0 or most != 1):
            raise unsupported("a repeat of what can be empty")
        body_sure = follow_is_sure and least <= 1
        self.check(body, self.first_of(body, follow) | follow, body_sure)
        return follow_is_sure and least == 0


cdef bint can_be_empty(tuple tree) except -1:
    cdef int kind = tree[0]
    if kind == SET:
        return False
    if kind == SEQUENCE:
        return all([can_be_empty(item) for item in tree[1]])
    if kind == CHOICE:
        return any([can_be_empty(item) for item in tree[1]])
    if kind == REPEAT:
        return tree[2] == 0 or can_be_empty(tree[1])
    return True


cdef Automaton compile_pattern(Pattern pattern, Classes classes, bint portable=True):
    """The automaton of a pattern; PatternNotSupported if it is too large, or may differ from backtracking."""
    cdef Automaton result = Automaton.__new__(Automaton)
    cdef Builder builder = Builder.__new__(Builder)
    cdef uint16_t rows[MAX_STATES][MAX_CLASSES]
    cdef int state, of_class
    builder.masks = classes.masks
    builder.all_classes = (<uint64_t> 1 << classes.count) - 1
    builder.portable = portable
    builder.exact, builder.last_bits, builder.context_sets = {}, {}, []
    builder.check(pattern.root, builder.all_classes | END_BIT, True)
    builder.place_rows(pattern.root)
    builder.find_contexts(classes.count)
    builder.explore(classes.count, builder.build(pattern.root, builder.node(ACCEPT, 0, 0, 0)))
    builder.find_certain(classes.count)
    if len(builder.contexts) > 1:
        builder.join_starts(classes.count)
        builder.find_certain(classes.count)
    result.n_states = <int> len(builder.keys)
    memset(rows, 0, sizeof(rows))
    for state in range(result.n_states):
        for of_class in range(classes.count):
            rows[state][of_class] = builder.entry(state, of_class)
        rows[state][END_OF_TEXT] = builder.entry(state, END_OF_TEXT)
    result.transitions = (<const char *> &rows[0][0])[: sizeof(rows[0]) * result.n_states]
    return result
