//! Finds the subexpression that a device gets wrong, with further dispatches
//! (architecture, "Blame").
//!
//! The SPIR-V relation runs the differing pixel and lists every computation: the id, the number of
//! its execution, and the value. For one computation, the pass
//! [`compile::probe`](crate::compile::probe) makes a module that shows its value beside the
//! program's outputs. If there is no room for another output, the value replaces an output. The
//! device draws that module. So each question costs one dispatch, and the first wrong answer is
//! found by bisection. Right and wrong values need not follow each other in order, since a wrong
//! value may have no effect. So a computation counts as the culprit only if its operands, and the
//! conditions that led to it, are right. Otherwise the search continues below the wrong one.
//!
//! Invariants: the words that are compared are the adapted ones, by hash. Their expected values
//! come from the interpreter, which must show the same for them as for the original words. Only
//! lanes that are decided under the profile convict. There are two cases:
//!
//! If only the definite value says what the differing lane must show, computations without a
//! decided value are not asked for.
//!
//! If a run over sets says what the lane must show, every computation is asked for, and an unknown
//! one counts as right. Then the culprit is the first computation outside of its own set. It may be
//! right, with a wrong operand that is still within the operand's set.

mod trace;

use super::blame::{Blame, instruction_text};
use super::case::{Case, Settings, target_fuel};
use super::{Place, expected_text, float_text};
use crate::compile::lambda_v as translation;
use crate::compile::probe::{self as pass, Probe};
use crate::dispatch::{FragmentDispatch, Target, words_hash};
use crate::gpu::{Device, DeviceOutcome};
use rustc_hash::FxHashMap;
use smallstep_semantics::lambda_v::resolve::MAX_LOCATION;
use smallstep_semantics::lambda_v::syntax::Span;
use smallstep_semantics::number::{Expected, Lane, Profile};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::operation::Scalar;
use smallstep_semantics::spirv::{self, Inputs};
use std::sync::Arc;
use trace::{Computed, Trace};

/// The most dispatches of one search.
const MAX_DISPATCHES: u32 = 256;

/// Draws the probes: a device, or a test's replacement for one.
pub trait Drawer {
    /// Draws one program.
    fn draw(&mut self, dispatch: FragmentDispatch) -> DeviceOutcome;

    /// The most outputs that a program may have.
    fn max_outputs(&self) -> u32;
}

impl Drawer for Device {
    fn draw(&mut self, dispatch: FragmentDispatch) -> DeviceOutcome {
        Device::run(self, dispatch).outcome
    }

    fn max_outputs(&self) -> u32 {
        self.adapter().max_color_attachments.min(self.adapter().max_color_attachment_bytes_per_sample / 16)
    }
}

/// Why a search found no culprit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unblamed {
    /// With intermediate values stored, the device computes everything right. The difference
    /// appears only without a probe.
    Vanishes {
        /// The number of dispatches of the search.
        dispatches: u32,
    },
    /// The search could not finish.
    Unknown {
        /// The reason, as a sentence.
        why: String,
        /// The number of dispatches of the search.
        dispatches: u32,
    },
}

impl std::error::Error for Unblamed {}

impl std::fmt::Display for Unblamed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unblamed::Vanishes { dispatches } => write!(f, "the disagreement vanishes under observation ({dispatches} dispatches)"),
            Unblamed::Unknown { why, dispatches } => write!(f, "no subexpression could be named: {why} ({dispatches} dispatches)"),
        }
    }
}

/// The first subexpression that a device computes differently on the pixel of `place`. That pixel
/// differs there in a decided lane.
///
/// `settings` must be the settings of the case.
pub fn on_device(case: &Case, place: Place, settings: &Settings, device: &mut dyn Drawer) -> Result<Blame, Unblamed> {
    let unknown = |why: String| Unblamed::Unknown { why, dispatches: 0 };
    let translated = case.witnessed(settings).map_err(|e| unknown(e.to_string()))?;
    if words_hash(&translated.words) != case.words_hash {
        return Err(unknown("the program translates to other words than the ones that differ".into()));
    }
    let buffers = case.buffers();
    let frag_coord = case.setting(place.pixel, settings).frag_coord.map(Lane::float);
    let inputs = Inputs { frag_coord, buffers: &buffers };
    let fuel = target_fuel(settings.fuel, translated.instructions);
    let mut trace = Trace::record(case.module(), translated.entry, &inputs, fuel, settings).map_err(unknown)?;
    let offset =
        trace.outputs.written.iter().take_while(|(location, _)| *location != place.location).map(|(_, lanes)| lanes.len()).sum::<usize>();
    let observation = case.explore(&trace.outputs, &inputs, fuel, settings);
    let required =
        *observation.expected.get(offset + place.component as usize).ok_or_else(|| unknown("the output is never stored".into()))?;
    let lane = trace.outputs.at(place.location).and_then(|lanes| lanes.get(place.component as usize));
    let over_sets = lane.is_none_or(|lane| matches!(lane.judge(settings.profile), Expected::Undecided(_)));
    if over_sets {
        trace.decide_all();
    }
    let used: Vec<u32> = case.translated.outputs.iter().map(|t| t.location).collect();
    let has_room = (used.len() as u32) < device.max_outputs();
    let free_location = (0..MAX_LOCATION).find(|l| !used.contains(l)).filter(|_| has_room);
    let search = Search {
        case,
        settings,
        device,
        place,
        trace: &trace,
        required,
        over_sets,
        translated: &translated,
        inputs: &inputs,
        fuel,
        location: free_location.unwrap_or(place.location),
        has_loops: case.module().instructions().iter().any(|i| i.is(Op::LoopMerge)),
        answers: FxHashMap::default(),
        dispatches: 0,
    };
    search.run()
}

/// The device's answer for one computation.
#[derive(Clone, Debug)]
struct Answer {
    /// The difference. `None` if the computation is right.
    wrong: Option<Wrong>,
    /// Whether the differing lane of the program was still wrong in this dispatch. `None` if the
    /// probe replaced that output.
    lane_still_wrong: Option<bool>,
}

#[derive(Clone, Debug)]
struct Wrong {
    expected: String,
    found: String,
    never_computed: bool,
}

struct Search<'a> {
    case: &'a Case,
    settings: &'a Settings,
    device: &'a mut dyn Drawer,
    place: Place,
    trace: &'a Trace,
    /// The value that the differing lane must show.
    required: Expected,
    /// Whether a run over sets gives `required`, and not the definite value alone.
    over_sets: bool,
    translated: &'a translation::Module,
    inputs: &'a Inputs<'a>,
    fuel: u64,
    /// The location of the probe's output.
    location: u32,
    /// Whether the module has loops. With a loop, a wrong device may execute an instruction more
    /// often than it should, so the probe counts executions.
    has_loops: bool,
    /// Answers by index in the trace.
    answers: FxHashMap<usize, Answer>,
    dispatches: u32,
}

type Searched<T> = Result<T, String>;

impl Search<'_> {
    fn run(mut self) -> Result<Blame, Unblamed> {
        match self.search() {
            Ok(Some(blame)) => Ok(blame),
            Ok(None) => Err(Unblamed::Vanishes { dispatches: self.dispatches }),
            Err(why) => Err(Unblamed::Unknown { why, dispatches: self.dispatches }),
        }
    }

    /// The culprit. `None` if the disagreement vanishes.
    fn search(&mut self) -> Searched<Option<Blame>> {
        let trace = self.trace;
        let (stored, store) = trace.stores.get(&self.place.location).copied().ok_or("the output is never stored")?;
        let Some(last) = trace.last(stored, store).filter(|&i| trace.computed[i].decided) else {
            return Err(format!("%{stored}, which is stored, is no computation with a decided value"));
        };
        let answer = self.ask(last)?;
        if answer.wrong.is_none() {
            return Ok(match answer.lane_still_wrong {
                Some(true) => Some(self.blame_store(stored)),
                _ => None,
            });
        }
        let mut wrong = last;
        loop {
            wrong = self.bisect(wrong)?;
            let mut vanished = false;
            let mut wrong_operand = None;
            let mut causes = trace.operands(wrong);
            // Bisection can miss a condition. Once control has taken another way, later values may
            // be right by chance.
            causes.extend(trace.decisions(wrong));
            for operand in causes {
                let answer = self.ask(operand)?;
                vanished |= answer.wrong.is_none() && answer.lane_still_wrong == Some(false);
                if answer.wrong.is_some() {
                    wrong_operand = Some(operand);
                    break;
                }
            }
            match wrong_operand {
                Some(operand) => wrong = operand,
                // An operand was right only because it was probed.
                None if vanished => return Ok(None),
                None => return self.blame(wrong).map(Some),
            }
        }
    }

    /// A wrong computation whose predecessor, among the decided ones, is right. `wrong` is known to
    /// be wrong.
    fn bisect(&mut self, wrong: usize) -> Searched<usize> {
        let decided = &self.trace.decided;
        let mut high = decided.partition_point(|&i| i < wrong);
        let mut low = 0;
        // All before `low` count as right. `decided[high]` is wrong.
        while low < high {
            let middle = low + (high - low) / 2;
            match self.ask(decided[middle])?.wrong {
                Some(_) => high = middle,
                None => low = middle + 1,
            }
        }
        Ok(decided[high])
    }

    fn ask(&mut self, index: usize) -> Searched<Answer> {
        if let Some(answer) = self.answers.get(&index) {
            return Ok(answer.clone());
        }
        let computed = self.trace.computed[index];
        let columns = u32::from(self.case.module().shape(computed.id).columns);
        let mut answer = Answer { wrong: None, lane_still_wrong: None };
        for column in 0..columns {
            let one = self.ask_column(&computed, column)?;
            answer.lane_still_wrong = one.lane_still_wrong;
            answer.wrong = one.wrong.map(|w| match columns {
                1 => w,
                _ => Wrong { expected: format!("column {column}: {}", w.expected), found: format!("column {column}: {}", w.found), ..w },
            });
            if answer.wrong.is_some() {
                break;
            }
        }
        self.answers.insert(index, answer.clone());
        Ok(answer)
    }

    fn ask_column(&mut self, computed: &Computed, column: u32) -> Searched<Answer> {
        if self.dispatches >= MAX_DISPATCHES {
            return Err(format!("the device was asked {MAX_DISPATCHES} times"));
        }
        let shape = self.case.module().shape(computed.id);
        let rows = usize::from(shape.rows);
        let (is_bool, from) = (shape.scalar == Scalar::Bool, rows * column as usize);
        let traced: Vec<u32> =
            self.trace.bits(computed)[from..from + rows].iter().map(|&b| if is_bool { as_float(b) } else { b }).collect();
        let probe = Probe {
            id: computed.id,
            occurrence: self.has_loops.then_some(computed.occurrence),
            column,
            shown: pass::Shown::Output(self.location),
            counts_in_floats: true,
            marker: marker(&traced),
        };
        let words = pass::adapt(self.case.module(), self.translated.entry, &probe).map_err(|e| e.to_string())?;
        let expected = self.expected(&words, &traced)?;
        if self.over_sets && expected.iter().all(|e| matches!(e, Expected::Undecided(_))) {
            return Ok(Answer { wrong: None, lane_still_wrong: None });
        }

        let mut dispatch = self.case.dispatch(self.settings.size);
        dispatch.words = Arc::from(words);
        let output_index =
            dispatch.outputs.iter().position(|t| t.location == self.place.location).ok_or("the output is none of the program's")?;
        let has_own_output = self.location != self.place.location;
        if has_own_output {
            dispatch.outputs.push(Target { location: self.location, components: 4 });
        }
        let hash = dispatch.words_hash();
        let shown = if has_own_output { dispatch.outputs.len() - 1 } else { output_index };
        let (x, y) = self.place.pixel;
        let pixel = y as usize * self.settings.size.0 as usize + x as usize;
        self.dispatches += 1;
        let frame = match self.device.draw(dispatch) {
            DeviceOutcome::Drawn(frame) if frame.words_hash == hash => frame,
            DeviceOutcome::Drawn(_) => return Err("the device drew other words than it was given".into()),
            other => return Err(format!("a module that shows %{} was not drawn: {other}", computed.id)),
        };
        let lanes = |image: usize| frame.images.get(image).and_then(|i| i.get(pixel)).ok_or("the frame lacks the pixel");
        let found = lanes(shown)?;
        let lane_still_wrong = match has_own_output {
            true => self.required.admits(lanes(output_index)?[self.place.component as usize]).map(|admitted| !admitted),
            false => None,
        };
        let differs = expected.iter().zip(found).any(|(e, &f)| e.admits(f) == Some(false));
        let wrong = differs.then(|| {
            let never_computed = found.iter().all(|&f| f == probe.marker);
            let text = |bits: u32| if is_bool { truth_text(bits) } else { float_text(bits) };
            let required = expected.iter().map(|&e| match e {
                Expected::Bits(bits) => text(bits),
                Expected::Zero => text(0),
                Expected::Within(_) if is_bool => "true or false".into(),
                other => expected_text(other),
            });
            Wrong {
                expected: required.collect::<Vec<_>>().join(", "),
                found: match never_computed {
                    true => "nothing: the device does not compute it".into(),
                    false => found[..rows].iter().map(|&f| text(f)).collect::<Vec<_>>().join(", "),
                },
                never_computed,
            }
        });
        Ok(Answer { wrong, lane_still_wrong })
    }

    /// The values that a device must show for the adapted words, by the interpreter. The
    /// interpreter must show the same for the adapted words as for the original ones.
    fn expected(&self, words: &[u32], traced: &[u32]) -> Searched<Vec<Expected>> {
        let refused = |e: spirv::LoadError| format!("the adapted module is refused: {e}");
        let module = spirv::Module::load(words).map_err(refused)?;
        let program = spirv::Program::compile(&module, self.translated.entry).map_err(refused)?;
        // The probe adds at most a dozen steps to each step of the original.
        let outcome = program.run(self.inputs, self.fuel.saturating_mul(16), &self.settings.planted.target_arithmetic);
        let Outcome::Observed(outputs) = outcome else {
            return Err(format!("the adapted module ends as {}, the original does not", outcome.name()));
        };
        let lanes = outputs.at(self.location).ok_or("the adapted module does not show the value")?;
        let same_bits = lanes.iter().map(|l| l.bits).zip(traced).all(|(a, &b)| a == b);
        let others = self.trace.outputs.written.iter().filter(|(location, _)| *location != self.location);
        let undisturbed = others.into_iter().all(|(location, lanes)| outputs.at(*location) == Some(lanes));
        if !same_bits || !undisturbed {
            return Err("the interpreter makes of the adapted words something else than of the original ones".into());
        }
        let exploration = self.settings.exploration();
        let observation = program.explore(&outputs, self.inputs, self.fuel, &self.settings.planted.target_arithmetic, exploration);
        let at = outputs.written.iter().take_while(|(location, _)| *location != self.location).map(|(_, lanes)| lanes.len()).sum();
        Ok(observation.expected.into_iter().skip(at).take(traced.len()).collect())
    }

    fn blame(&mut self, index: usize) -> Searched<Blame> {
        let computed = self.trace.computed[index];
        let wrong = self.ask(index)?.wrong.ok_or("a culprit is wrong")?;
        let module = self.case.module();
        let instruction = module.instruction(computed.id).ok_or("a culprit is an instruction")?;
        let (expression, span, rule) = self.subexpression(computed.id);
        let mut text = instruction_text(module, instruction);
        if wrong.never_computed {
            text.push_str(", which control does not reach");
        }
        Ok(Blame {
            expression,
            span,
            id: computed.id,
            rule,
            instruction: text,
            step: computed.step,
            occurrence: u64::from(computed.occurrence),
            dispatches: self.dispatches,
            expected: wrong.expected,
            found: wrong.found,
        })
    }

    /// The blame if the value is right where it is computed, and the output is still wrong.
    fn blame_store(&self, stored: u32) -> Blame {
        let (expression, span, _) = self.subexpression(stored);
        let trace = self.trace;
        Blame {
            expression,
            span,
            id: stored,
            rule: Rule::LvMcBody,
            instruction: "OpStore".into(),
            step: trace.stores.get(&self.place.location).map_or(0, |s| s.1),
            occurrence: 0,
            dispatches: self.dispatches,
            expected: expected_text(self.required),
            found: "another value in the output, though the value stored is right".into(),
        }
    }

    /// The innermost subexpression whose value is in an id, its place, and the rule that made
    /// the id.
    fn subexpression(&self, id: u32) -> (String, Span, Rule) {
        let terms = &self.translated.terms;
        if let Some(w) = self.translated.witness_of(id) {
            return (self.translated.expression(w.term, &self.case.program.symbols, 200), terms.span(w.term), w.rule);
        }
        // Two kinds of ids have no subexpression: the padding of outputs, and the OpPhi that carry
        // the arguments of rec back.
        let outputs = &self.case.program.outputs;
        let output = outputs.iter().find(|o| o.location == self.place.location).unwrap_or(&outputs[0]);
        let span = self.case.program.terms.span(output.term);
        match self.case.module().instruction(id).is_some_and(|i| i.is(Op::Phi)) {
            true => ("an argument of rec".into(), span, Rule::LvTrRecFunc),
            false => (format!("output {}, padded", self.place.location), span, Rule::LvMcBody),
        }
    }
}

/// The bits of the float by which the probe shows a Boolean.
fn as_float(truth: u32) -> u32 {
    if truth == 0 { 0 } else { 1.0f32.to_bits() }
}

fn truth_text(bits: u32) -> String {
    match f32::from_bits(bits) {
        0.0 => "false".into(),
        1.0 => "true".into(),
        _ => format!("neither true nor false, {}", float_text(bits)),
    }
}

/// The bits of an ordinary float that differ from all lanes.
fn marker(lanes: &[u32]) -> u32 {
    let candidates = (0..=lanes.len() as u32).map(|n| (-1234.5f32 - n as f32).to_bits());
    candidates.into_iter().find(|c| !lanes.contains(c)).unwrap_or(0)
}

/// Whether a lane can convict: its required value is decided.
fn is_decided(lane: Lane, truth: bool, profile: Profile) -> bool {
    match truth {
        true => lane.trust.is_decided(profile),
        false => !matches!(lane.judge(profile), Expected::Undecided(_)),
    }
}
