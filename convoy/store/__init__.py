"""Where renders are kept: the installation's key, the encryption, the render store and the local cache."""
