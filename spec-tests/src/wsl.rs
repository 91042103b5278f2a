//! The tests of WSL programs.

use crate::expect::Found;
use crate::reject::FoundError;
use smallstep::generate::wsl::beside::{self, Compared, Fuel};
use smallstep::run::{grid, stages};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::{Span, line_column};
use smallstep_semantics::uniformity::{self, seed};
use smallstep_semantics::wsl::call::{self};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::entry::EntryPoint;
use smallstep_semantics::wsl::environment::{FunctionId, Planted};
use smallstep_semantics::wsl::error::Error;
use smallstep_semantics::wsl::execution::next::Becomes;
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt};
use smallstep_semantics::wsl::execution::{self, Cx, Effect, Effects, Next};
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::machine::{self, Compiled, Ending};
use smallstep_semantics::wsl::meaning::{self, Op, OpResult};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::{Possible, Word};
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::texture::is_writable;
use smallstep_semantics::wsl::types::{Scalar, TypeId, ValueType};
use smallstep_semantics::wsl::typing::behaviour::Behaviour;
use smallstep_semantics::wsl::typing::premises::{Premises, declared};
use smallstep_semantics::wsl::typing::program::{Coercion, Program};
use smallstep_semantics::wsl::{self, Settings};
use smallstep_semantics::wsl::{desugar, draw, group, parse, print, validate, value};
use std::collections::BTreeSet;
use std::path::Path;

/// The results of reading a program.
#[derive(Debug, Default)]
pub struct Read {
    /// The rules that fired.
    pub fired: Vec<Rule>,
    /// The errors, in the order of their places. If the text cannot be parsed, these are the errors
    /// of the parser, and the program is not examined further.
    pub wrong: Vec<FoundError>,
    /// Whether the printed program parses to the same tree.
    pub prints_back: bool,
    /// The lines of the program without sugar.
    pub core: Vec<String>,
    /// `None` if the program is not valid or was not validated. The error is the part of the typed
    /// program that does not follow by the rules.
    pub valid: Option<Result<(), String>>,
}

/// The rules of validation and execution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The bug planted in validation.
    pub planted: Planted,
    /// The bug planted in execution.
    pub execution: execution::Planted,
    /// The judgements on which the rules rest.
    pub premises: Premises,
    /// Whether the rules are the specification's by the letter. If so, the typed program is not
    /// checked again.
    pub literal: bool,
}

impl Rules {
    /// These rules with one judgement by the letter, which `plant` sets.
    pub fn by_the_letter(mut self, plant: fn(&mut Premises)) -> Rules {
        plant(&mut self.premises);
        self.literal = true;
        self
    }
}

/// WSL-C1: a loop has the behaviour Nothing only if its body has Break. Fallthrough stays.
pub fn loops_without_end(p: &mut Premises) {
    p.loop_behaviours = |b| b.without(Behaviour::Continue).without(Behaviour::Break).with_if(Behaviour::Nothing, b.has(Behaviour::Break));
}

/// WSL-C2: a parameter is a right-value. Here variables are right-values too. The exhibit assigns
/// to no variable.
pub fn parameters_are_values(p: &mut Premises) {
    p.variable = |ty, _| ValueType::Right(ty);
}

/// WSL-C3: `@a` of an array a refers to arrays, not to the elements of a.
pub fn references_to_arrays(p: &mut Premises) {
    p.reference = |_, ty| (ty, None);
}

/// WSL-C4: an initialiser is typed in the environment that has its own variable.
pub fn initialisers_see_themselves(p: &mut Premises) {
    p.initializer_sees_itself = true;
}

/// WSL-C6: an expression is a call only if it is written as a call, or as an operator that becomes
/// a call.
pub fn calls_as_written(p: &mut Premises) {
    p.called = |callee, written| declared(callee).filter(|_| written);
}

/// WSL-D1: every `return` is a terminator and replaces its block at once, whether its expression
/// has been reduced or not.
pub fn hoisted_return(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    match s {
        Stmt::Block(block) if matches!(block.first, Some(Stmt::Return(_))) => Some(Next::part(0)),
        _ => execution::statement::e_block_reduce(cx, s),
    }
}

/// WSL-D3: the left side `e.f` of an assignment by a setter is reduced by its getter, like any
/// other expression.
pub fn got_target(cx: &mut Cx, e: &Expr) -> Option<Next> {
    if let Some(next) = execution::assign::e_assign_left_reduce(cx, e) {
        return Some(next);
    }
    let Form::Assign(sides) = &e.form else { return None };
    let Form::Dot(..) = sides[0].form else { return None };
    let got = Expr { form: Form::Coerce(Coercion::AbstractToRight, Box::new(sides[0].clone())), ..sides[0].clone() };
    let next = execution::expression::e_dot_getter(cx, &got)?;
    next.set_rule(Rule::WslEDotGetter, got.at).inside(Rule::WslEAssignLeftReduce, 0)
}

/// WSL-D17: `e.f = v` becomes `e = operator.f=(e, v)` alone, so that its value is the value of e.
pub fn value_of_whole(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let mut next = execution::assign::e_assign_setter(cx, e)?;
    for change in next.changes() {
        if let Becomes::Expr(whole) = &mut change.becomes
            && let Form::Comma(parts) = &mut whole.form
        {
            *whole = parts[0].take();
        }
    }
    Some(next)
}

/// WSL-D19: a declaration stores the default value in every address space, including
/// threadgroup memory.
pub fn stored_by_each(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let next = execution::statement::e_block_vdecl(cx, s)?;
    let Stmt::Block(block) = s else { return None };
    let Some(Stmt::Declaration(_, store, None)) = block.first else { return None };
    let words = cx.shared.words(cx.shared.program.store(store).ty).ok()?;
    let zeros = Words::from_elem(Word::Bits(0), words as usize);
    Some(next.with(Effects::from_iter([Effect::Store(cx.address(store), zeros)])))
}

/// WSL-E2: the tangent of atan2(y, x) is x/y, not y/x.
pub fn tangent_of_x_by_y(op: Op, operands: &[u32], given: OpResult) -> OpResult {
    match (op.meaning, operands) {
        (Meaning::Atan2, &[y, x]) => meaning::scalar(op, &[x, y]),
        _ => given,
    }
}

/// The last stage to which a program is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// Parsing and printing the tree.
    Tree,
    /// Removing the sugar.
    Core,
    /// Validation.
    Validity,
}

/// Reads a program up to a stage, or up to the first stage with errors.
pub fn read(text: &str, until: Until, rules: &Rules) -> Read {
    let (tree, errors, fired) = parse::parse_with_rules(text);
    let mut read = Read { fired, ..Read::default() };
    if !errors.is_empty() {
        read.wrong = wrong(text, &errors);
        return read;
    }
    let (again, errors) = parse::parse(&print::print(&tree));
    read.prints_back = errors.is_empty() && again.same(&tree);
    if until == Until::Tree {
        return read;
    }
    let (core, done) = desugar::desugar(tree);
    read.fired.extend(done.iter().map(|(rule, _)| *rule));
    read.core = print::print_core(&core).lines().map(str::to_string).collect();
    if until == Until::Core {
        return read;
    }
    let (program, errors, fired) = validate::check_with(&core, rules.planted, rules.premises);
    read.fired.extend(fired.rules());
    read.wrong = wrong(text, &errors);
    read.valid = program.map(|program| match rules.literal {
        true => Ok(()),
        false => recheck(&program).map_err(|refuted| {
            let (line, column) = line_column(text, refuted.span.start);
            format!("{line}:{column}: {}: {}", refuted.rule.map_or("a whole", Rule::name), refuted.message)
        }),
    });
    read
}

/// The result of evaluating an expression beside a program.
#[derive(Debug)]
pub struct Called {
    /// The type of the expression.
    pub ty: String,
    /// The value, as `int 42`, or how the evaluation ends.
    pub found: Found,
    /// The rules that fired, on all ways.
    pub fired: BTreeSet<Rule>,
}

/// Evaluates an expression beside a program.
///
/// Errors: the errors of the program or of the expression.
pub fn call(text: &str, expression: &str, settings: &Settings) -> Result<Called, String> {
    let prepared = call::prepare(text, expression).map_err(|wrong| rejected(&wrong.text, &wrong.errors))?;
    let mut fired = BTreeSet::new();
    let evaluation = prepared.evaluation();
    let ty = prepared.program.env.type_name(evaluation.start.ty);
    let outcome = evaluation.run_ways(settings, &mut |_, step, _| {
        fired.insert(step.rule);
        fired.extend(&step.within);
    });
    let found = match outcome {
        Outcome::Observed(shown) => {
            let mut text = match (&*ty, shown.discarded) {
                (_, n) if n == shown.ways => String::from("discarded"),
                ("void", _) => ty.clone(),
                _ => format!("{ty} {}", value::show(&prepared.program, shown.ty, &shown.words)),
            };
            if 0 < shown.discarded && shown.discarded < shown.ways {
                text += ", or discarded";
            }
            if !shown.complete {
                text += ", and not every way was followed";
            }
            Found { notes: vec![text], ..Found::default() }
        }
        other => ending(other),
    };
    Ok(Called { ty, found, fired })
}

fn rejected(text: &str, errors: &[Error]) -> String {
    let each = errors.iter().map(|e| {
        let (line, column) = line_column(text, e.span.start);
        format!("\n{line}:{column}: error[{}] {}", e.rule, e.message)
    });
    format!("the program or the expression is rejected{}", each.collect::<String>())
}

fn ending<O>(outcome: Outcome<O>) -> Found {
    match outcome {
        Outcome::Stuck(stuck) => Found::ending("stuck", stuck.why),
        Outcome::Unsupported(what) => Found::ending("unsupported", what),
        Outcome::Limit(limit) => Found::ending("limit", limit.to_string()),
        other => Found::ending(other.name(), ""),
    }
}

/// Evaluates an expression of type `ty` beside a program, on the fast engine and by the relation.
/// For each strategy, both must end alike. Returns false if they were not compared: the fast engine
/// does not support the expression or runs out of fuel, or the expression has another type as the
/// result of a function.
///
/// Errors: the difference between the two.
pub fn compare(text: &str, expression: &str, ty: &str, fuel: u64) -> Result<bool, String> {
    let mut name = String::from("called");
    while text.contains(&name) || expression.contains(&name) {
        name.push('_');
    }
    let text = format!("{text}\n{ty} {name}() {{ return\n{expression}\n; }}");
    let Some(program) = validate::validate(&text).program else { return Ok(false) };
    let root = FunctionId(program.bodies.len() as u32 - 1);
    let Ok(compiled) = Compiled::new(&program, root) else { return Ok(false) };
    let result = program.env.function(root).result;
    let shown = |words: &[Possible]| value::show(&program, result, words);
    for strategy in [Strategy::First, Strategy::Random(1), Strategy::Random(2), Strategy::Carry] {
        let settings = machine::Settings { strategy, fuel, ..machine::Settings::default() };
        let (fast, _) = compiled.call(&[], &mut [], &settings)?;
        if matches!(fast, Ending::OutOfFuel { .. }) {
            return Ok(false);
        }
        let evaluation = call::Evaluation { program: &program, text: &text, start: execution::call_of(&program, root, Vec::new()), root };
        let settings = Settings { strategy, fuel, ways: 1, ..Settings::default() };
        let (fast, slow) = match (fast, evaluation.run(&settings, &mut |_, _| {})) {
            // The fast engine stops at an unspecified value. The relation carries the value on.
            (Ending::Open { .. }, Outcome::Observed(slow)) => (true.to_string(), slow.unspecified.to_string()),
            (Ending::Discarded, Outcome::Observed(slow)) => (1.to_string(), slow.discarded.to_string()),
            (Ending::Returned(words), Outcome::Observed(slow)) if slow.discarded == 0 => {
                let words: Vec<Possible> = words.into_iter().map(|word| Possible::Values(vec![word])).collect();
                (shown(&words), shown(&slow.words))
            }
            (fast, slow) => (format!("{fast:?}"), format!("{slow:?}")),
        };
        if fast != slow {
            return Err(format!("by {strategy:?} the fast engine gives {fast}, the relation {slow}"));
        }
    }
    Ok(true)
}

/// The result of the uniformity analysis of a program.
#[derive(Debug)]
pub struct Analysed {
    /// `accepts`, `rejects` with the places, or `stuck` with the place where no rule applies. The
    /// notes have the metadata of each function.
    pub found: Found,
    /// The rules that the analysis used.
    pub fired: Vec<Rule>,
    /// The steps of each rejection, with an empty line between rejections.
    pub explanation: Vec<String>,
}

/// Analyses the uniformity of a program, by the rules of seed 001 with these settings. Without
/// settings, by the precise rules.
///
/// Errors: the errors of the program.
pub fn uniform(text: &str, settings: Option<&seed::Settings>) -> Result<Analysed, String> {
    let validated = validate::validate(text);
    let Some(program) = validated.program else { return Err(rejected(text, &validated.errors)) };
    let analysis = match settings {
        Some(settings) => seed::analyse_with(&program, settings),
        None => {
            let mut analysis = uniformity::wsl::analyse(&program).map_err(|e| e.to_string())?;
            analysis.functions = uniformity::wsl::metadata(&program).map_err(|e| e.to_string())?;
            analysis
        }
    };
    let place = |span: Span| {
        let (line, column) = line_column(text, span.start);
        format!("{line}:{column}")
    };
    let mut found = match (&analysis.stuck, &analysis.rejections[..]) {
        (Some((span, why)), _) => Found::ending("stuck", format!("{} {why}", place(*span))),
        (None, []) => Found::ending("accepts", ""),
        (None, rejections) => {
            let places: Vec<String> = rejections.iter().map(|r| format!("{} {}", place(r.span), r.need.noun())).collect();
            Found::ending("rejects", places.join(", "))
        }
    };
    for (function, metadata) in program.env.functions.iter().zip(&analysis.functions) {
        let parameters: Vec<&str> = function.parameters.iter().map(|p| program.env.names.name(p.name)).collect();
        let text = metadata.text(&parameters, function.result == TypeId::VOID);
        found.notes.push(format!("{}: {text}", program.env.key_name(function.key)));
    }
    let explanation = (analysis.rejections.iter().enumerate())
        .flat_map(|(i, rejection)| {
            let steps = rejection.steps.iter().map(|step| {
                let rule = step.rule.map_or(String::new(), |rule| format!(" [{rule}]"));
                format!("{} {}{rule}", place(step.span), step.text)
            });
            (i > 0).then(String::new).into_iter().chain(steps)
        })
        .collect();
    Ok(Analysed { found, fired: analysis.fired, explanation })
}

/// Runs a dispatch of a compute entry point. Returns the contents of its buffers and textures in
/// device memory and whether it races, or how it ends. Also returns the rules that fired.
///
/// Errors: the errors of the program, or resources that do not fit.
pub fn dispatch(
    text: &str,
    entry: Option<&str>,
    resources: &[(String, String)],
    groups: [u32; 3],
    settings: &Settings,
) -> Result<(Found, Vec<Rule>), String> {
    let program = valid(text)?;
    let dispatch = prepared(&program, text, entry, resources, groups)?;
    Ok(run_dispatch(&program, &dispatch, settings))
}

/// Validates a text.
///
/// Errors: the errors of the program.
pub fn valid(text: &str) -> Result<Program, String> {
    let validated = validate::validate(text);
    validated.program.ok_or_else(|| rejected(text, &validated.errors))
}

/// A dispatch with its resources bound.
///
/// Errors: there is no such entry point, or the resources do not fit.
pub fn prepared<'p>(
    program: &'p Program,
    text: &'p str,
    entry: Option<&str>,
    resources: &[(String, String)],
    groups: [u32; 3],
) -> Result<group::Dispatch<'p>, String> {
    let entry = grid::compute_entry(program, entry)?;
    let resources = grid::bind(program, entry, &given(resources), &unread)?;
    Ok(group::Dispatch { program, text, entry, groups, resources })
}

/// Runs a dispatch. Returns what it leaves or how it ends, and the rules that fired.
pub fn run_dispatch(program: &Program, dispatch: &group::Dispatch, settings: &Settings) -> (Found, Vec<Rule>) {
    match dispatch.run(settings) {
        wsl::Ending::Shown(shown) => {
            let mut notes: Vec<String> = in_device(program, &dispatch.resources, &shown.buffers).collect();
            notes.push(if shown.races.is_empty() { "no race" } else { "races" }.into());
            if !shown.complete {
                notes.push("not every way was followed".into());
            }
            (Found { notes, ..Found::default() }, shown.fired)
        }
        other => (without_frame(other), Vec::new()),
    }
}

/// The ending of a dispatch or draw that has no result to show.
fn without_frame<S>(ended: wsl::Ending<S>) -> Found {
    match ended {
        wsl::Ending::Shown(_) => Found::default(),
        wsl::Ending::Diverged(_) => Found::ending("diverged", ""),
        wsl::Ending::Refused(error) => Found::ending("refused", format!("{}: {}", error.rule, error.message)),
        wsl::Ending::OutOfFuel(_) => ending(Outcome::<()>::OutOfFuel),
        wsl::Ending::Open(_) => Found::ending("open", "an unspecified value was met"),
        wsl::Ending::Other(outcome) => ending(outcome),
    }
}

/// Runs a dispatch on the fast engine and by the relation, with two strategies. For each, both must
/// end alike. Returns false if they were not compared, for example because an engine runs out of
/// fuel or the dispatch races.
///
/// Errors: the difference between the two, the errors of the program, or resources that do not fit.
pub fn compare_dispatch(
    text: &str,
    entry: Option<&str>,
    resources: &[(String, String)],
    groups: [u32; 3],
    fuel: u64,
) -> Result<bool, String> {
    let validated = validate::validate(text);
    let Some(program) = validated.program else { return Err(rejected(text, &validated.errors)) };
    let entry = grid::compute_entry(&program, entry)?;
    let resources = grid::bind(&program, entry, &given(resources), &unread)?;
    let compiled = Compiled::new(&program, entry.function).map_err(|refusal| refusal.to_string())?;
    let dispatch = group::Dispatch { program: &program, text, entry, groups, resources };
    for strategy in [Strategy::First, Strategy::Random(1)] {
        match beside::dispatch(&dispatch, &compiled, strategy, Fuel { machine: fuel, relation: fuel, time: None })? {
            Compared::Same(_) => {}
            Compared::Not(_) => return Ok(false),
            Compared::Differ { machine, relation } => {
                return Err(format!("by {strategy:?} the fast engine gives {machine}, the relation {relation}"));
            }
        }
    }
    Ok(true)
}

/// Runs a draw on the fast engine and by the relation, with two strategies. For each, both must end
/// alike. Returns false if they were not compared, for example because an engine runs out of fuel
/// or the draw races.
///
/// Errors: the difference between the two, the errors of the program, or resources that do not fit.
pub fn compare_draw(text: &str, asked: &stages::DrawRequest, resources: &[(String, String)], fuel: u64) -> Result<bool, String> {
    let validated = validate::validate(text);
    let Some(program) = validated.program else { return Err(rejected(text, &validated.errors)) };
    let draw = stages::draw(&program, text, asked, &given(resources), &unread)?;
    let compile = |entry: &EntryPoint| Compiled::new(&program, entry.function).map_err(|refusal| refusal.to_string());
    let (vertex, fragment) = (draw.vertex().map(compile).transpose()?, compile(draw.fragment)?);
    for strategy in [Strategy::First, Strategy::Random(1)] {
        match beside::draw(&draw, (vertex.as_ref(), &fragment), strategy, Fuel { machine: fuel, relation: fuel, time: None }) {
            Compared::Same(_) => {}
            Compared::Not(_) => return Ok(false),
            Compared::Differ { machine, relation } => {
                return Err(format!("by {strategy:?} the fast engine draws {machine}, the relation {relation}"));
            }
        }
    }
    Ok(true)
}

/// Runs a draw. Returns the contents of its targets, depths and buffers, or how it ends. Also
/// returns the rules that fired.
///
/// Errors: the errors of the program, or inputs that do not fit.
pub fn draw(
    text: &str,
    asked: &stages::DrawRequest,
    resources: &[(String, String)],
    settings: &Settings,
) -> Result<(Found, Vec<Rule>), String> {
    let program = valid(text)?;
    let draw = prepared_draw(&program, text, asked, resources)?;
    Ok(run_draw(&program, text, &draw, settings))
}

/// A draw with its resources bound.
///
/// Errors: there are no such entry points, or the inputs do not fit.
pub fn prepared_draw<'p>(
    program: &'p Program,
    text: &'p str,
    asked: &stages::DrawRequest,
    resources: &[(String, String)],
) -> Result<draw::Draw<'p>, String> {
    Ok(stages::draw(program, text, asked, &given(resources), &unread)?)
}

/// Runs a draw. Returns what it leaves or how it ends, and the rules that fired.
pub fn run_draw(program: &Program, text: &str, draw: &draw::Draw, settings: &Settings) -> (Found, Vec<Rule>) {
    let shown = match draw.run(settings) {
        wsl::Ending::Shown(shown) => shown,
        other => return (without_frame(other), Vec::new()),
    };
    let place = |span: Span| {
        let (line, column) = line_column(text, span.start);
        format!("{line}:{column}")
    };
    let pixel = |i: usize| (i as u32 % draw.size[0], i as u32 / draw.size[0]);
    let mut notes = Vec::new();
    for target in &shown.targets {
        let texts: Vec<String> = (target.texels.iter().zip(&target.in_doubt))
            .map(|(texel, doubted)| {
                let text = value::show(program, TypeId::vector(Scalar::Float, 4), texel);
                if *doubted { format!("{text}, in doubt") } else { text }
            })
            .collect();
        match texts.first() {
            Some(first) if texts.iter().all(|text| text == first) => notes.push(format!("target {}: {first}", target.number)),
            _ => {}
        }
        notes.extend(texts.iter().enumerate().map(|(i, text)| format!("target {} {:?}: {text}", target.number, pixel(i))));
    }
    for (i, depth) in shown.depth.iter().flatten().enumerate() {
        notes.push(format!("depth {:?}: {}", pixel(i), value::float((depth.value as f32).to_bits())));
    }
    notes.extend(in_device(program, &draw.resources, &shown.buffers));
    notes.push(if shown.races.is_empty() { "no race" } else { "races" }.into());
    notes.extend(shown.apart.iter().map(|apart| format!("apart at {}", place(apart.place))));
    if shown.in_doubt {
        notes.push("buffers in doubt".into());
    }
    if !shown.complete {
        notes.push("not every way was followed".into());
    }
    (Found { notes, ..Found::default() }, shown.fired)
}

/// The contents of the buffers and writable textures in device memory, a line each.
fn in_device<'a>(program: &'a Program, resources: &'a [group::Resource], words: &'a [Vec<Possible>]) -> impl Iterator<Item = String> + 'a {
    resources.iter().zip(words).filter_map(|(resource, words)| {
        let name = &resource.name;
        if let Some(buffer) = resource.buffer().filter(|buffer| buffer.space == AddressSpace::Device) {
            let elements = words.chunks(buffer.stride as usize).map(|e| value::show(program, buffer.element, e));
            return Some(format!("buffer {name}: {}", elements.collect::<Vec<_>>().join(", ")));
        }
        let (texture, texel) = resource.texture().filter(|(texture, _)| is_writable(texture.kind))?;
        Some(format!("texture {name}: {}", grid::texels(program, texture, texel, words).join(", ")))
    })
}

/// The inputs for resources, by their names.
fn given(resources: &[(String, String)]) -> Vec<(grid::ResourceRef, grid::ResourceInput)> {
    resources.iter().map(|(name, given)| (grid::ResourceRef::Name(name.clone()), grid::ResourceInput::Text(given.clone()))).collect()
}

fn unread(path: &Path) -> std::io::Result<Vec<u8>> {
    Err(std::io::Error::other(format!("{}: a case has no files", path.display())))
}

fn wrong(text: &str, errors: &[Error]) -> Vec<FoundError> {
    let each = errors.iter().map(|e| {
        let (line, column) = line_column(text, e.span.start);
        FoundError { code: e.rule.name().into(), message: e.message.clone(), line, column }
    });
    each.collect()
}
