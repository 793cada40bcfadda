"""What is said to be sure of a text that goes on is checked at every place."""

__all__ = ["check_borders", "check_what_is_sure"]


def check_what_is_sure(splitter, text):
    """Whatever the text is cut at: what is said to be sure of the first part is true of the whole."""
    whole = splitter.spans(text)
    for cut in range(len(text) + 1):
        if cut < len(text) and text[cut] & 0xC0 == 0x80:
            continue
        pieces, position = splitter.sure_spans(text[:cut])
        assert pieces == whole[: len(pieces)]
        assert pieces + [(position + a, position + b) for a, b in splitter.spans(text[position:])] == whole


def check_borders(splitter, text):
    """What is before a border and what is behind it have the pieces of the whole, each without the other."""
    whole = splitter.spans(text)
    found = set()
    for cut in range(len(text) + 1):
        border, behind = splitter.last_border(text[:cut])
        if border:
            assert 0 < border < behind <= cut
            before, position = splitter.sure_spans(text[:behind])
            assert position >= border
            after = [(border + a, border + b) for a, b in splitter.spans(text[border:])]
            assert before + after == whole
            found.add(border)
    return found
