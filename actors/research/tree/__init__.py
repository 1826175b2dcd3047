"""The tree of knowledge: points are clustered, clusters named, people edit them. Pure, but for `naming`'s model."""
