"""Around columns of Arrow's: functions from batch to batch, and columns of tokenizers that change texts."""
