"""What several features share: the base of a part, a section, a sheet; colours; plots."""
