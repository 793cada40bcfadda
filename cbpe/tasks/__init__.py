"""Work on a corpus of any size, cut into tasks: any of them may be done twice, anywhere, and is never half done."""
