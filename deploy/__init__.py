"""Everything that runs convoy somewhere: CRDs, manifests, images, and the local stack of real servers."""
