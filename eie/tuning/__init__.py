"""Fine-tuning a local model on examples: LoRA, and losses over the candidates of each moment."""
