"""Linear methods: PCA, oriented PCA, classical MDS and kernel PCA."""
