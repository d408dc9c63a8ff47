"""What several features share: base classes of parts, sections and sheets; colours; plots."""
