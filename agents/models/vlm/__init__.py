"""A small multimodal language model: SmolLM2 that reads detected objects as tokens."""
