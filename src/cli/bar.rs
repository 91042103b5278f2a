//! Progress of campaigns.

use smallstep::theorem::campaign::Progress;

/// Progress on standard error, shown only if that is a terminal.
pub(crate) struct Bar(pub(crate) indicatif::ProgressBar);

impl Bar {
    pub(crate) fn new(count: Option<u64>) -> Bar {
        let bar = match count {
            Some(count) => indicatif::ProgressBar::new(count),
            None => indicatif::ProgressBar::new_spinner(),
        };
        let template = "{bar:30} {human_pos} programs, {per_sec}, {eta} left, {msg}";
        if let Ok(style) = indicatif::ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Bar(bar)
    }
}

impl Progress for Bar {
    fn advanced(&self, programs: u64, _: Option<u64>, findings: u64) {
        self.0.set_position(programs);
        self.0.set_message(format!("{findings} disagreements"));
    }
}
