//! A script on an interpreter and on devices together. Each engine is compared with the script's
//! expectations, and each device with the interpreter.
//!
//! After every RUN, the buffers that it may have changed are compared. At the end, all buffers are.
//! Decided bytes are compared one by one. If the interpreter knows the few values of a scalar, such
//! as the codes that a fraction may be rounded to, or the set of a float, the scalar is compared
//! with these. The other bytes are counted and skipped, such as those of pixels whose centres lie
//! within the sub-pixel precision of an edge. After a command that the interpreter calls undefined,
//! nothing is compared, and devices are not judged.

use std::fmt;

use smallstep_semantics::number::Profile;

use super::modules::Modules;
use super::play::{End, Engine, Interpreter, Player, Step, commands};
use super::{requirement, show};
use crate::amber::{Action, BufferId, Buffers, Certainty, Check, Choice, Contents, Decision, Expect, Judgement, Line, Open, Script};
use crate::gpu::Device;

/// Two sides that should agree, and differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The trusted side, and the side that is judged.
    pub between: (Side, Side),
    /// The line of the command after which they differ.
    pub line: Line,
    /// The place of the difference. `None` if a module was refused.
    pub place: Option<Place>,
    /// The value of the trusted side.
    pub expected: String,
    /// The value of the judged side.
    pub found: String,
}

/// The place at which two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the buffer in the script.
    pub buffer: String,
    /// The offset of the first byte that differs. `None` if it is no single byte.
    pub offset: Option<u64>,
    /// A description of the element, as `IDX 12, uint32`.
    pub element: String,
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// The script.
    Script,
    /// The interpreter.
    Interpreter,
    /// A device, by name and route.
    Device(String),
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Script => "the script",
            Side::Interpreter => "the interpreter",
            Side::Device(name) => name,
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { between: (trusted, judged), line, place, expected, found } = self;
        write!(f, "{trusted} vs {judged}: line {line}: ")?;
        if let Some(Place { buffer, element, .. }) = place {
            let comma = if element.is_empty() { "" } else { ", " };
            write!(f, "buffer {buffer}{comma}{element}: ")?;
        }
        write!(f, "expected {expected}, found {found}")
    }
}

/// The verdict of a leg.
pub type Verdict = crate::verdict::Verdict<Box<Difference>>;

/// The amount of comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Expectations that hold or fail.
    pub expectations: u64,
    /// Expectations that are undecided or depend on undefined values.
    pub open: u64,
    /// Bytes that were compared with the interpreter's, summed over all comparisons.
    pub bytes: u64,
    /// Of these, bytes of scalars with a few possible values by the interpreter.
    pub one_of: u64,
    /// Of these, bytes of 32-bit floats with a bounded set by the interpreter's runs over sets.
    pub within: u64,
    /// Bytes that were skipped, since the interpreter does not decide them.
    pub left: u64,
}

/// The result of a script on one engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// "interpreter", or the device and its route.
    pub name: String,
    /// Whether the engine is a device.
    pub device: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// The amount of comparisons.
    pub compared: Compared,
    /// Branches on undefined values that do not affect the result.
    pub notes: Vec<String>,
}

impl Leg {
    fn new(name: String, device: bool) -> Leg {
        Leg { name, device, verdict: Verdict::Agree, compared: Compared::default(), notes: Vec::new() }
    }

    fn add_verdict(&mut self, verdict: Verdict) {
        self.verdict = std::mem::replace(&mut self.verdict, Verdict::Agree).worse(verdict);
    }

    fn side(&self) -> Side {
        if self.device { Side::Device(self.name.clone()) } else { Side::Interpreter }
    }

    /// Sets the verdict for a script that ended early.
    fn ended(&mut self, line: Line, end: End) {
        self.add_verdict(match end {
            End::Undefined { report, .. } => Verdict::Undefined(report),
            End::Unsupported(why) => Verdict::Unsupported(why),
            End::Limit(why) => Verdict::Limit(why),
            End::Invalid(why) => Verdict::Invalid(why),
            End::Unchecked(why) => Verdict::Unchecked(why),
            End::Failed(why) => Verdict::Failed(why),
            End::Refused(why) => {
                let between = (Side::Interpreter, self.side());
                Verdict::Disagree(Box::new(Difference {
                    between,
                    line,
                    place: None,
                    expected: "a run of a valid module".into(),
                    found: why,
                }))
            }
        });
    }

    fn judged(&mut self, player: &Player<'_>, judgement: &Judgement) {
        let decision = judgement.decision();
        match decision {
            Decision::Holds | Decision::Fails => self.compared.expectations += 1,
            Decision::Undecided | Decision::Undefined => self.compared.open += 1,
        }
        let open = || {
            let open = judgement.open.as_ref();
            open.map(|open| open_text(player, open)).unwrap_or_default()
        };
        match (decision, judgement.failures.first()) {
            (Decision::Fails, Some(failure)) => {
                let difference = Difference {
                    between: (Side::Script, self.side()),
                    line: failure.line,
                    place: Some(Place { buffer: failure.buffer.clone(), offset: None, element: failure.place.clone() }),
                    expected: failure.expected.clone(),
                    found: failure.found.clone(),
                };
                self.add_verdict(Verdict::Disagree(Box::new(difference)));
            }
            (Decision::Undefined, _) => self.add_verdict(Verdict::Undefined(open())),
            (Decision::Undecided, _) => self.add_verdict(Verdict::Undecided(open())),
            _ => {}
        }
    }
}

/// A byte that leaves an expectation open, with its origin.
pub fn open_text(player: &Player<'_>, open: &Open) -> String {
    let why = player.origin(open.buffer, open.byte);
    match (open.known, why) {
        (_, None) => open.to_string(),
        (Certainty::Undefined, Some(why)) => format!("{}: {why}", open.place),
        (_, Some(why)) => format!("{}: devices may hold other values: {why}", open.place),
    }
}

/// A device that is compared with the interpreter.
struct ComparedDevice<'s, 'd> {
    player: Player<'s>,
    engine: Engine<'d>,
    leg: Leg,
    /// Whether it still runs commands.
    is_running: bool,
    /// Whether it has agreed with the interpreter so far.
    agrees: bool,
}

/// Plays a script on an interpreter and on these devices, and compares them. Returns a leg for the
/// interpreter, and one for each device.
pub fn check(script: &Script, modules: &Modules, interpreter: &Interpreter, devices: Vec<&mut Device>) -> Vec<Leg> {
    let mut interpreter_player = Player::new(script, modules);
    // A device may run adapted words, and is compared with the interpreter's result for these.
    // Modules from naga have no float controls.
    let without_controls = devices.iter().any(|device| device.route().re_emits()).then_some(Profile::Wgsl);
    let profile = interpreter.profile.or(without_controls);
    // If all devices have one subgroup size, the interpreter runs with that size.
    let mut sizes = devices.iter().map(|device| device.adapter().subgroups.size());
    let common_size = sizes.next().flatten().filter(|&size| sizes.all(|other| other == Some(size)));
    let subgroup_size = interpreter.subgroup_size.or(common_size);
    let adapted_too = !devices.is_empty();
    let mut engine = Engine::Interpreter(Box::new(Interpreter { adapted_too, profile, subgroup_size, ..interpreter.clone() }));
    let mut leg = Leg::new("interpreter".into(), false);
    let mut compared_devices: Vec<ComparedDevice<'_, '_>> = devices
        .into_iter()
        .map(|device| {
            let mut leg = Leg::new(format!("{} ({})", device.adapter().name, device.route()), true);
            let lacking = requirement::lacking(script, device.adapter());
            let is_running = lacking.is_none();
            if let Some(lack) = lacking {
                leg.add_verdict(Verdict::Unchecked(lack));
            }
            ComparedDevice { player: Player::new(script, modules), engine: Engine::Device(device), leg, is_running, agrees: true }
        })
        .collect();
    // After the end of the interpreter, there is nothing to compare with.
    let mut ended = false;
    let mut last = Line(0);
    for command in commands(script) {
        last = command.line;
        if !ended {
            match interpreter_player.step(command, &mut engine) {
                Step::Done | Step::Ran(_) => {}
                Step::Judged(judgement) => leg.judged(&interpreter_player, &judgement),
                Step::Ended(line, end) => {
                    ended = true;
                    for device in compared_devices.iter_mut().filter(|b| b.is_running) {
                        match &end {
                            End::Undefined { undefined, .. } => {
                                device.is_running = false;
                                device.leg.add_verdict(Verdict::Undefined(format!("not compared from line {line} on: {undefined}")));
                            }
                            other => {
                                device.leg.add_verdict(Verdict::Unchecked(format!("not compared from line {line} on: {}", other.why())))
                            }
                        }
                    }
                    leg.ended(line, end);
                }
            }
        }
        let branch_line = interpreter_player.notes.first().map(|(line, _)| *line);
        for device in compared_devices.iter_mut().filter(|b| b.is_running) {
            let differed = matches!(device.leg.verdict, Verdict::Disagree(_));
            if let Action::Expect(expect) = &command.action {
                // Bytes that the interpreter does not decide are undecided for devices too.
                for id in subjects(expect) {
                    let known = if ended { &Contents::default() } else { &interpreter_player.buffers[id] };
                    device.player.buffers[id].know_as(known);
                }
            }
            match device.player.step(command, &mut device.engine) {
                Step::Done => {}
                Step::Ran(changed) if !ended && device.agrees => {
                    device.compare(script, &interpreter_player.buffers, changed.into_iter(), command.line)
                }
                Step::Ran(_) => {}
                Step::Judged(judgement) => device.leg.judged(&interpreter_player, &judgement),
                Step::Ended(line, end) => {
                    device.is_running = false;
                    device.leg.ended(line, end);
                }
            }
            if !differed {
                device.leg.excuse(branch_line);
            }
        }
        if ended && compared_devices.iter().all(|b| !b.is_running) {
            break;
        }
    }
    if !ended {
        let all = (0..script.buffers.len()).map(BufferId);
        for device in compared_devices.iter_mut().filter(|b| b.is_running && b.agrees) {
            let differed = matches!(device.leg.verdict, Verdict::Disagree(_));
            device.compare(script, &interpreter_player.buffers, all.clone(), last);
            if !differed {
                device.leg.excuse(interpreter_player.notes.first().map(|(line, _)| *line));
            }
        }
    }
    leg.notes = interpreter_player.notes.iter().map(|(line, note)| format!("line {line}: {note}")).collect();
    std::iter::once(leg).chain(compared_devices.into_iter().map(|b| b.leg)).collect()
}

/// The buffers that an expectation depends on.
fn subjects(expect: &Expect) -> impl Iterator<Item = BufferId> {
    let other = match &expect.check {
        Check::EqBuffer(other) | Check::RmseBuffer(other, _) | Check::HistogramEmdBuffer(other, _) => Some(*other),
        Check::Values { .. } | Check::Colour { .. } => None,
    };
    std::iter::once(expect.buffer).chain(other)
}

impl Leg {
    /// After a branch on an undefined value, a device may do anything. So a later difference
    /// is undecided.
    fn excuse(&mut self, branch_line: Option<Line>) {
        if let (Some(line), Verdict::Disagree(difference)) = (branch_line, &self.verdict) {
            self.verdict = Verdict::Undecided(format!("{difference}, after a branch on an undefined value in line {line}"));
        }
    }
}

impl ComparedDevice<'_, '_> {
    /// Compares these buffers with the interpreter's. The first difference ends all comparisons.
    fn compare(&mut self, script: &Script, reference: &Buffers, buffers: impl Iterator<Item = BufferId>, line: Line) {
        for id in buffers {
            let (expected, found) = (&reference[id], &self.player.buffers[id]);
            let (mut skipped, mut one_of, mut within) = (0, 0, 0);
            for (at, (e, f)) in expected.bytes.iter().zip(&found.bytes).enumerate() {
                let admitted = match expected.known_at(at) {
                    Certainty::Decided => e == f,
                    Certainty::OneOf => {
                        one_of += 1;
                        expected.choice(at).is_none_or(|(start, choice)| start != at || admits(choice, &found.bytes[at..]))
                    }
                    Certainty::Doubtful | Certainty::Undefined => match expected.set(at) {
                        Some((start, set)) => {
                            within += 1;
                            start != at || float_at(&found.bytes, at).is_none_or(|x| set.contains(x.into()))
                        }
                        None => {
                            skipped += 1;
                            true
                        }
                    },
                };
                if !admitted {
                    let (place, expected, found) = element(script, id, at, expected, &found.bytes);
                    let between = (Side::Interpreter, self.leg.side());
                    self.agrees = false;
                    self.leg.add_verdict(Verdict::Disagree(Box::new(Difference { between, line, place: Some(place), expected, found })));
                    return;
                }
            }
            self.leg.compared.one_of += one_of;
            self.leg.compared.within += within;
            self.leg.compared.left += skipped;
            self.leg.compared.bytes += expected.bytes.len() as u64 - skipped;
            if skipped > 0 {
                let name = &script[id].name;
                self.leg
                    .add_verdict(Verdict::Undecided(format!("line {line}: {skipped} bytes of {name} are not decided by the interpreter")));
            }
        }
    }
}

/// The 32-bit float at this offset.
fn float_at(bytes: &[u8], at: usize) -> Option<f32> {
    Some(f32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Whether a scalar has one of these values. `bytes` starts with its bytes.
fn admits(choice: &Choice, bytes: &[u8]) -> bool {
    let bits = bytes.iter().take(choice.size).rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    choice.codes.admits(bits)
}

/// The element that contains a byte, with its values in two contents of a buffer. For an image, it
/// is the component of a texel.
fn element(script: &Script, id: BufferId, at: usize, expected: &Contents, found: &[u8]) -> (Place, String, String) {
    let buffer = &script[id];
    let at = at as u64;
    let slot = (at.saturating_sub(7)..=at).rev().find_map(|start| {
        let slot = buffer.slot(buffer.index_at(start)?)?;
        (slot.offset == start && start + u64::from(slot.scalar.size()) > at).then_some(slot)
    });
    let (element, expected, found) = match slot {
        Some(slot) => {
            let (start, size) = (slot.offset as usize, slot.scalar.size() as usize);
            let value = |bytes: &[u8]| {
                let bits = slot.scalar.load(&bytes[start..]);
                format!("{} ({bits:#0width$x})", slot.scalar.value(bits), width = 2 + 2 * size)
            };
            let expected_text = match (expected.values(start, size), expected.set(start)) {
                (Ok(Some(choice)), _) => show::one_of(choice, slot.scalar),
                (Err(_), Some((_, set))) => set.to_string(),
                _ => value(&expected.bytes),
            };
            let name = match (buffer.extent.image(), buffer.format()) {
                (Some((width, _)), Some(format)) => {
                    let (texel, channel) = (slot.offset / buffer.stride, slot.offset % buffer.stride / size as u64);
                    let channel = format.channels().get(channel as usize).map_or(String::new(), |c| format!("{c:?}").to_lowercase());
                    format!("texel ({}, {}), {channel}", texel % u64::from(width), texel / u64::from(width))
                }
                _ => format!("IDX {}, {}", slot.offset, slot.scalar.name()),
            };
            (name, expected_text, value(found))
        }
        None => (format!("byte {at}, padding"), format!("{:#04x}", expected.bytes[at as usize]), format!("{:#04x}", found[at as usize])),
    };
    (Place { buffer: buffer.name.clone(), offset: Some(at), element }, expected, found)
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::image::Codes;
    use smallstep_semantics::number::sets::{Set, Span};

    use super::super::modules::Options;
    use super::*;
    use crate::amber::read;

    /// The leg of a device that shows these bytes in the only buffer of a script. `open` leaves
    /// some of the expected bytes open.
    fn leg_of(script: &str, open: impl FnOnce(&mut Contents), shown: Vec<u8>) -> Leg {
        let script = read(script).expect("it is a script");
        let modules = Modules::load("test.amber", &script, &Options::default()).unwrap_or_else(|e| panic!("{}", e.text));
        let mut reference = script.contents();
        open(&mut reference[BufferId(0)]);
        let mut player = Player::new(&script, &modules);
        player.buffers[BufferId(0)].bytes = shown;
        let engine = Engine::Interpreter(Box::default());
        let mut device = ComparedDevice { player, engine, leg: Leg::new("a device".into(), true), is_running: true, agrees: true };
        device.compare(&script, &reference, [BufferId(0)].into_iter(), Line(9));
        device.leg
    }

    const FLOATS: &str = "#!amber\nBUFFER data DATA_TYPE float DATA 7 1.5 3 END\n";

    fn bytes(shown: &[f32]) -> Vec<u8> {
        shown.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    /// The leg of a device that shows these floats. The interpreter allows the second float to be
    /// anywhere from 1 to 2.
    fn compared(shown: [f32; 3]) -> Leg {
        leg_of(FLOATS, |contents| contents.bound(4, Set::of(Span { low: 1.0, high: 2.0 })), bytes(&shown))
    }

    /// The byte and the element of the first difference.
    fn place_of(leg: Leg) -> (Option<u64>, String) {
        let Verdict::Disagree(difference) = leg.verdict else { panic!("{:?}", leg.verdict) };
        let place = difference.place.expect("a place");
        (place.offset, place.element)
    }

    #[test]
    fn a_device_shows_one_of_the_values_that_are_left() {
        let codes =
            |x: f32, y: f32| Codes { best: x.to_bits().into(), others: [y.to_bits().into()].into_iter().collect(), nan: 0, any: None };
        let compared = |shown: [f32; 3]| leg_of(FLOATS, |contents| contents.choose(4, 4, codes(1.5, 1.75)), bytes(&shown));
        for one in [1.5, 1.75] {
            let leg = compared([7.0, one, 3.0]);
            assert_eq!((leg.verdict, leg.compared.bytes, leg.compared.one_of, leg.compared.left), (Verdict::Agree, 12, 4, 0), "{one}");
        }
        for none in [1.625, 1.5f32.next_up(), -1.5] {
            assert_eq!(place_of(compared([7.0, none, 3.0])), (Some(4), "IDX 4, float".into()));
        }
    }

    #[test]
    fn a_difference_is_told_at_its_element() {
        // 3 and 3.5 differ in their third byte.
        assert_eq!(place_of(compared([7.0, 1.5, 3.5])), (Some(10), "IDX 8, float".into()));
        // A vector of three components has padding.
        let vectors = "#!amber\nBUFFER data DATA_TYPE vec3<float> DATA 1 2 3 4 5 6 END\n";
        let shown = |at: usize| {
            let mut shown = bytes(&[1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]);
            shown[at] ^= 1;
            place_of(leg_of(vectors, |_| {}, shown))
        };
        assert_eq!(shown(11), (Some(11), "IDX 8, float".into()));
        for padding in [12, 15] {
            assert_eq!(shown(padding), (Some(padding as u64), format!("byte {padding}, padding")));
        }
        assert_eq!(shown(16), (Some(16), "IDX 16, float".into()));
        let image = "#!amber\nIMAGE data FORMAT R32G32_SFLOAT DIM_2D WIDTH 3 HEIGHT 2 FILL 1\n";
        let mut texels = [1.0; 12];
        texels[5] = 2.0;
        assert_eq!(place_of(leg_of(image, |_| {}, bytes(&texels))).1, "texel (2, 0), green");
    }

    #[test]
    fn what_differs_after_an_undefined_branch_is_undecided() {
        for (branch_line, name) in [(None, "disagree"), (Some(Line(4)), "undecided")] {
            let mut leg = compared([7.0, 3.0, 3.0]);
            leg.excuse(branch_line);
            assert_eq!(leg.verdict.name(), name);
        }
        let mut same = compared([7.0, 1.5, 3.0]);
        same.excuse(Some(Line(4)));
        assert_eq!(same.verdict, Verdict::Agree);
    }

    #[test]
    fn a_device_is_judged_by_the_set_that_a_float_is_of() {
        for inside in [1.0, 1.5, 2.0] {
            let leg = compared([7.0, inside, 3.0]);
            assert_eq!((leg.verdict, leg.compared.bytes, leg.compared.within, leg.compared.left), (Verdict::Agree, 12, 4, 0), "{inside}");
        }
        for outside in [2.0f32.next_up(), 1.0f32.next_down(), -1.5, f32::NAN] {
            let Verdict::Disagree(difference) = compared([7.0, outside, 3.0]).verdict else { panic!("{outside} agrees") };
            let found = format!("{} ({:#010x})", f64::from(outside), outside.to_bits());
            assert_eq!((difference.expected.as_str(), difference.found.to_lowercase()), ("[1.0, 2.0]", found.to_lowercase()));
            let place = difference.place.expect("a place");
            assert_eq!((place.offset, place.element.as_str()), (Some(4), "IDX 4, float"));
        }
        assert!(matches!(compared([7.0, 1.5, 3.5]).verdict, Verdict::Disagree(_)), "the third float is decided");
    }
}
