"""GGUF, the files of llama.cpp: the tokenizer in the metadata before the weights."""
