from array import array
from typing import Any

from typing_extensions import Buffer

# numbers: buffers of int64, which arrays of numpy are as well

def cut_by_hash(data: Buffer, lengths: Any, n_partitions: int) -> tuple[array[int], array[int]]: ...
def in_order(data: Buffer, lengths: Any, order: Any) -> bytearray: ...
