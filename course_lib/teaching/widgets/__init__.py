"""Figures to play with: functions whose arguments are the values at the start; in a
live notebook sliders and boxes change them. `player` holds what they share."""

from course_lib.teaching.widgets.batches import play_batches
from course_lib.teaching.widgets.merges import play_merges
from course_lib.teaching.widgets.packs import play_packs
from course_lib.teaching.widgets.pipeline import play_pipeline
from course_lib.teaching.widgets.tracks import play_tracks
from course_lib.teaching.widgets.windows import play_windows
