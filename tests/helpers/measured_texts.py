"""Two texts that the tests of compare and sweep measure."""

ENGLISH = "the cat sat on the mat\nthe cat sat still\n" * 20
OTHER = "안녕하세요 고양이\n고양이\n" * 20
