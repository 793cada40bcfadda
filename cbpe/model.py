"""tiktoken.model, for programs that import this package in its place: which encodings OpenAI's models have."""

from cbpe.encodings.models import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING
from cbpe.tokenizers.registry import encoding_for_model, encoding_name_for_model

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING", "encoding_for_model", "encoding_name_for_model"]
