"""The aggregated API: the subresources of Releases behind the real kube-apiserver."""
