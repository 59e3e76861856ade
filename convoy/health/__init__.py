"""Whether what was applied works: rules for one object, for a wave, for a render (D26)."""
