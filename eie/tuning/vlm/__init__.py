"""A small vision-language model of transformers' own classes, made from nothing (LLaVA)."""
