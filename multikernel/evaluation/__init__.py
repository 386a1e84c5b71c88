"""How good is a model, which view matters, and did learning the kernel help? Numbers, before any page."""
