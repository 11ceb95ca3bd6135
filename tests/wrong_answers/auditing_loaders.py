"""Lesson 14: what a class answers."""
