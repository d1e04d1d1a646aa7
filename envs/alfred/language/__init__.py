"""The action language: vocabulary, grammar, object names and references."""
