"""Tasks and training data evolved in the environments (Embodied Instruction Evolution)."""
