"""Planning a private study: what n private samples can tell at best, and estimating from them."""
