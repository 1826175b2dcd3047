"""The tree of knowledge: points are clustered, clusters are named, people edit them. All of it is pure."""
