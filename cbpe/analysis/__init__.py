"""What is known of a vocabulary, and of texts in its tokens."""
