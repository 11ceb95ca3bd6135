"""What the site is made of: its pages, its reference, what Sphinx is told, its look."""
