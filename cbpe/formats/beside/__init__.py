"""What belongs to a tokenizer and is not in its file: transformers and programs of models put it beside."""
