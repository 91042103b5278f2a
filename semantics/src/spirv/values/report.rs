//! The texts of reports of undefined behaviour. Each is one sentence that names the instruction.
//! Both engines use the same texts.
//!
//! Each engine detects undefined behaviour by itself.

use crate::concurrency::{Race, Wait};
use crate::image::Image;
use crate::spirv::grammar::Op;
use crate::spirv::module::Module;
use crate::spirv::object::Fault;
use crate::spirv::value::Origin;
use crate::spirv::words::Instruction;
use crate::undefined::{Call, Site, Ub};

/// The text if OpUnreachable is executed.
pub(in crate::spirv) const UNREACHABLE: &str = "OpUnreachable was reached";

/// The name of an instruction in messages, by its index: `%7 = OpLoad`, `OpStore`.
pub(in crate::spirv) fn name(module: &Module, instruction: u32) -> String {
    match module.instructions().get(instruction as usize) {
        Some(i) if i.result != 0 => format!("%{} = {}", i.result, i.name()),
        Some(i) => i.name(),
        None => String::new(),
    }
}

/// The text for the origin of an undefined value.
fn origin_text(module: &Module, origin: Origin) -> String {
    format!("{} made by {} in invocation {}", origin.kind.id(), name(module, origin.instruction), origin.invocation)
}

/// The operands that an instruction computes with. Those of an extended instruction follow the set
/// and the number.
pub(in crate::spirv) fn computed_from<'m>(module: &'m Module, i: &Instruction) -> &'m [u32] {
    let operands = i.operands(module.words());
    if i.is(Op::ExtInst) { operands.get(2..).unwrap_or(&[]) } else { operands }
}

/// A branch or switch at `at` on an undefined value.
pub(in crate::spirv) fn branch_on_undefined(module: &Module, at: u32, origin: Origin) -> String {
    let x = module.instructions().get(at as usize).and_then(|i| i.operands(module.words()).first()).copied().unwrap_or(0);
    format!("{} depends on %{x}, which is undefined: {}", name(module, at), origin_text(module, origin))
}

/// An access chain whose index `id` is out of bounds.
pub(in crate::spirv) fn index_out_of_bounds(module: &Module, at: u32, id: u32, index: i64, count: u64) -> String {
    format!("{} has index {index} (%{id}) of {count}", name(module, at))
}

/// An access chain whose index `id` is undefined.
pub(in crate::spirv) fn index_undefined(module: &Module, at: u32, id: u32, origin: Origin) -> String {
    operand_undefined(module, at, "an index", id, origin)
}

/// An operand `id` that selects memory, and is undefined.
pub(in crate::spirv) fn operand_undefined(module: &Module, at: u32, operand: &str, id: u32, origin: Origin) -> String {
    format!("{} has {operand}, %{id}, that is undefined: {}", name(module, at), origin_text(module, origin))
}

/// Why a pointer points to nothing.
#[derive(Clone, Copy, Debug)]
pub(in crate::spirv) enum Nothing {
    /// The pointer is null.
    Null,
    /// The pointer is undefined.
    Undefined(Origin),
    /// The pointer points to one past the end of an array with that number of elements.
    PastTheEnd(u64),
}

/// An instruction that accesses memory through the pointer `id`, which points to nothing.
pub(in crate::spirv) fn pointer_to_nothing(module: &Module, at: u32, id: u32, why: Nothing) -> String {
    let why = match why {
        Nothing::Null => "is null".to_string(),
        Nothing::Undefined(origin) => format!("is undefined: {}", origin_text(module, origin)),
        Nothing::PastTheEnd(count) => format!("is one past the end of an array of {count}"),
    };
    format!("{} follows %{id}, which {why}", name(module, at))
}

/// An OpPtrAccessChain whose element operand `id` leaves the array of its base.
pub(in crate::spirv) fn element_out_of_bounds(module: &Module, at: u32, id: u32, to: i64, count: u64) -> String {
    format!("{} goes to element {to} (%{id}) of {count}", name(module, at))
}

/// An OpPtrDiff of pointers that do not point into one array.
pub(in crate::spirv) fn pointers_apart(module: &Module, at: u32) -> String {
    let operand = |k: usize| module.instructions().get(at as usize).and_then(|i| i.operands(module.words()).get(k)).copied().unwrap_or(0);
    format!("{} is of %{} and %{}, which are not of one array", name(module, at), operand(0), operand(1))
}

/// A computing instruction whose operands cause undefined behaviour. `undefined` is the first
/// undefined operand, if there is one.
pub(in crate::spirv) fn computation(module: &Module, at: u32, ub: Ub, undefined: Option<(u32, Origin)>) -> String {
    let Some(i) = module.instructions().get(at as usize) else { return String::new() };
    let operand = |k: usize| computed_from(module, i).get(k).copied().unwrap_or(0);
    let why = match (ub, undefined) {
        (Ub::DivisionByZero, _) => format!("divides by zero (%{})", operand(1)),
        (Ub::DivisionOverflow, _) => format!("divides the least integer (%{}) by -1 (%{})", operand(0), operand(1)),
        (Ub::ConversionRange, _) => format!("converts %{}, whose value {} does not hold", operand(0), module.types().text(i.result_type)),
        (Ub::Wrap, _) => "overflows, and is decorated NoSignedWrap or NoUnsignedWrap".to_string(),
        (_, Some((id, origin))) => format!("has an operand, %{id}, that is undefined: {}", origin_text(module, origin)),
        (_, None) => "has an operand that is undefined".to_string(),
    };
    format!("{} {why}", name(module, at))
}

/// An access through a pointer that violates a clause of its memory.
pub(in crate::spirv) fn access(module: &Module, at: u32, pointer: u32, fault: &Fault) -> String {
    format!("{} accesses, through %{pointer}, {fault}", name(module, at))
}

/// An OpCopyMemory between places that overlap in part.
pub(in crate::spirv) fn overlapping_copy(module: &Module, at: u32) -> String {
    let operand = |k: usize| module.instructions().get(at as usize).and_then(|i| i.operands(module.words()).get(k)).copied().unwrap_or(0);
    format!("OpCopyMemory copies %{} to %{}, which overlap in part", operand(1), operand(0))
}

/// The object of a race in a buffer, with the name of its variable if it has one.
pub(in crate::spirv) fn buffer(module: &Module, variable: u32) -> String {
    module.name(variable).map_or_else(|| "a buffer".into(), |name| format!("the buffer %{name}"))
}
/// The object of a race in Workgroup memory with an explicit layout.
pub(in crate::spirv) const WORKGROUP_MEMORY: &str = "Workgroup memory";
/// The object of a race in Workgroup memory without an explicit layout.
pub(in crate::spirv) const WORKGROUP_VARIABLE: &str = "a Workgroup variable, 8 bytes for each scalar";

/// The object of a race in a texel of level 0 of an image. `index` is the index of the texel.
pub(in crate::spirv) fn texel(image: &Image, (set, binding): (u32, u32), index: u64) -> String {
    let [width, height, slices] = image.sides(0).unwrap_or([1; 3]).map(u64::from);
    let (x, y, z) = (index % width, index / width % height, index / width / height);
    let slice = if slices > 1 { format!(", {z}") } else { String::new() };
    format!("texel ({x}, {y}{slice}) of the image at set {set}, binding {binding}")
}

/// The text for the second access of a race in that object.
pub(in crate::spirv) fn data_race(module: &Module, race: &Race, object: &str) -> String {
    let (second, first) = (name(module, race.second.instruction), name(module, race.first.instruction));
    format!("{second} races with the earlier {first} (instruction {}) in {object}: {race}", race.first.instruction)
}

/// The site of an instruction in an invocation with that number and GlobalInvocationId.
pub(in crate::spirv) fn site(module: &Module, instruction: u32, invocation: u32, global: [u32; 3]) -> Site {
    let place = module.place(instruction as usize);
    let line = module.source_line(instruction as usize);
    Site {
        instruction,
        function: place.function,
        block: place.block,
        line,
        invocation,
        global,
        step: None,
        earlier: None,
        calls: Vec::new(),
    }
}

/// The calls at these instructions.
pub(in crate::spirv) fn calls(module: &Module, instructions: Vec<u32>) -> Vec<Call> {
    let call = |instruction: u32| {
        let place = module.place(instruction as usize);
        Call { instruction, function: place.function, block: place.block, line: module.source_line(instruction as usize) }
    };
    instructions.into_iter().map(call).collect()
}

/// A barrier at which one invocation waits and which another does not reach. The invocations are
/// given by GlobalInvocationId. `other` is the state of the second one.
pub(in crate::spirv) fn divergent_barrier<I>(
    module: &Module,
    barrier: u32,
    [x, y, z]: [u32; 3],
    [u, v, w]: [u32; 3],
    other: &Wait<(u32, I)>,
) -> String {
    let other = match *other {
        Wait::Barrier((at, _)) if at == barrier => "waits at it in another iteration of a loop or another call".to_string(),
        Wait::Barrier((at, _)) => format!("waits at another, {} of instruction {at}", name(module, at)),
        Wait::Ended | Wait::Ready => "has ended".to_string(),
    };
    format!("OpControlBarrier is reached by invocation ({x},{y},{z}) and not by all of its workgroup: invocation ({u},{v},{w}) {other}")
}

/// An access through a variable to a byte that was accessed through another variable, without a
/// declared alias.
pub(in crate::spirv) fn undeclared_alias(module: &Module, at: u32, variable: u32, other: u32, byte: u64) -> String {
    format!(
        "{} accesses byte {byte} of a buffer through %{variable}; it was accessed through %{other}, one of them writes, and not both are \
         decorated Aliased",
        name(module, at)
    )
}

/// An access by an operand `id` that has another descriptor in the invocation `other`.
pub(in crate::spirv) fn descriptor_not_uniform(module: &Module, at: u32, id: u32, [x, y, z]: [u32; 3]) -> String {
    format!(
        "{} accesses another descriptor by %{id} than invocation ({x},{y},{z}) did, and %{id} is not decorated NonUniform",
        name(module, at)
    )
}

/// An operand `id` that differs among the invocations which execute the instruction together.
pub(in crate::spirv) fn non_uniform_operand(module: &Module, at: u32, id: u32) -> String {
    format!("{} has an operand, %{id}, that is not the same in all invocations of its subgroup that execute it together", name(module, at))
}

/// A cluster size that is larger than the subgroup.
pub(in crate::spirv) fn cluster_size(module: &Module, at: u32, cluster: u32, size: u32) -> String {
    format!("{} has clusters of {cluster} invocations, and a subgroup has {size}", name(module, at))
}
