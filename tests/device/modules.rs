//! Fragment modules, built instruction by instruction, and functions to build modules of
//! every kind.

use std::sync::Arc;

use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, LoopControl, MemoryModel, Op, StorageClass, Word,
};
use smallstep::dispatch::{BufferBinding, BufferKind, FragmentDispatch, Target};
use smallstep_semantics::spirv::{Options, assemble};

/// Assembles a text.
pub fn words(text: &str) -> Arc<[u32]> {
    Arc::from(assemble(text, Options::default()).unwrap_or_else(|error| panic!("{error}")))
}

/// The decorations that bind a variable.
pub fn placed(name: &str, set: u32, binding: u32) -> String {
    format!("OpDecorate %{name} DescriptorSet {set}\n OpDecorate %{name} Binding {binding}\n")
}

/// A buffer of these words.
pub fn buffer(set: u32, binding: u32, kind: BufferKind, words: impl IntoIterator<Item = u32>) -> BufferBinding {
    BufferBinding { set, binding, kind, bytes: words.into_iter().flat_map(u32::to_le_bytes).collect() }
}

/// A module under construction: the fragment entry point "main", whose function is open.
pub struct Fragment {
    pub b: Builder,
    pub float: Word,
    pub vec4: Word,
    main: Word,
    interface: Vec<Word>,
}

impl Fragment {
    /// Starts a module of SPIR-V 1.`minor`, with these capabilities and Shader.
    pub fn new(minor: u8, capabilities: &[Capability]) -> Fragment {
        let mut b = Builder::new();
        b.set_version(1, minor);
        b.capability(Capability::Shader);
        for capability in capabilities {
            b.capability(*capability);
        }
        if !capabilities.is_empty() {
            b.extension("SPV_KHR_float_controls");
        }
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let void = b.type_void();
        let float = b.type_float(32, None);
        let vec4 = b.type_vector(float, 4);
        let function = b.type_function(void, vec![]);
        let main = b.begin_function(void, None, rspirv::spirv::FunctionControl::NONE, function).expect("no function is open");
        b.begin_block(None).expect("the function is open");
        Fragment { b, float, vec4, main, interface: Vec::new() }
    }

    fn variable(&mut self, class: StorageClass, decoration: Decoration, operand: Operand) -> Word {
        let pointer = self.b.type_pointer(None, class, self.vec4);
        let variable = global(&mut self.b, pointer, class);
        self.b.decorate(variable, decoration, [operand]);
        self.interface.push(variable);
        variable
    }

    pub fn output(&mut self, location: u32, value: Word) {
        let variable = self.variable(StorageClass::Output, Decoration::Location, Operand::LiteralBit32(location));
        self.b.store(variable, value, None, []).expect("a block is open");
    }

    pub fn frag_coord(&mut self) -> Word {
        let variable = self.variable(StorageClass::Input, Decoration::BuiltIn, Operand::BuiltIn(BuiltIn::FragCoord));
        self.b.load(self.vec4, None, variable, None, []).expect("a block is open")
    }

    pub fn vec4(&mut self, lanes: [f32; 4]) -> Word {
        let lanes = lanes.map(|lane| self.b.constant_bit32(self.float, lane.to_bits()));
        self.b.constant_composite(self.vec4, lanes)
    }

    /// Declares the constants buffer. Returns the values of the elements at these indices.
    pub fn constants(&mut self, places: &[u32]) -> Vec<Word> {
        let b = &mut self.b;
        let int = b.type_int(32, 1);
        let array = b.type_runtime_array(self.float);
        b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
        let block = b.type_struct([array]);
        b.decorate(block, Decoration::Block, []);
        b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let pointer = b.type_pointer(None, StorageClass::StorageBuffer, block);
        let buffer = global(b, pointer, StorageClass::StorageBuffer);
        b.decorate(buffer, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
        b.decorate(buffer, Decoration::NonWritable, []);
        b.decorate(buffer, Decoration::Binding, [Operand::LiteralBit32(0)]);
        let element = b.type_pointer(None, StorageClass::StorageBuffer, self.float);
        let zero = b.constant_bit32(int, 0);
        let mut values = Vec::new();
        for place in places {
            let place = b.constant_bit32(int, *place);
            let at = b.access_chain(element, None, buffer, [zero, place]).expect("a block is open");
            values.push(b.load(self.float, None, at, None, []).expect("a block is open"));
        }
        values
    }

    pub fn execution_mode(&mut self, mode: ExecutionMode, width: u32) {
        self.b.execution_mode(self.main, mode, [width]);
    }

    pub fn finish(mut self) -> Arc<[u32]> {
        self.b.ret().expect("a block is open");
        self.b.end_function().expect("a function is open");
        self.b.entry_point(ExecutionModel::Fragment, self.main, "main", self.interface);
        self.b.execution_mode(self.main, ExecutionMode::OriginUpperLeft, []);
        Arc::from(self.b.module().assemble())
    }
}

/// Declares a variable of the module. The builder would put it into the open function.
fn global(b: &mut Builder, pointer: Word, class: StorageClass) -> Word {
    let id = b.id();
    let variable = Instruction::new(Op::Variable, Some(pointer), Some(id), vec![Operand::StorageClass(class)]);
    b.module_mut().types_global_values.push(variable);
    id
}

/// A module that draws this colour: λV's translation of a constant, report 000 §6.
pub fn colour(lanes: [f32; 4]) -> Arc<[u32]> {
    let mut module = Fragment::new(0, &[]);
    let value = module.vec4(lanes);
    module.output(0, value);
    module.finish()
}

/// A module that draws each pixel's `FragCoord`.
pub fn frag_coord() -> Arc<[u32]> {
    let mut module = Fragment::new(0, &[]);
    let value = module.frag_coord();
    module.output(0, value);
    module.finish()
}

/// A module that discards the pixels of the left half and draws ones in the right half.
pub fn half_discarded(middle: f32) -> Arc<[u32]> {
    let mut module = Fragment::new(0, &[]);
    let coord = module.frag_coord();
    let ones = module.vec4([1.0; 4]);
    let float = module.float;
    let b = &mut module.b;
    let boolean = b.type_bool();
    let middle = b.constant_bit32(float, middle.to_bits());
    let x = b.composite_extract(float, None, coord, [0]).expect("a block is open");
    let left = b.f_ord_less_than(boolean, None, x, middle).expect("a block is open");
    let (then, merge) = (b.id(), b.id());
    b.selection_merge(merge, rspirv::spirv::SelectionControl::NONE).expect("a block is open");
    b.branch_conditional(left, then, merge, []).expect("a block is open");
    b.begin_block(Some(then)).expect("no block is open");
    b.kill().expect("a block is open");
    b.begin_block(Some(merge)).expect("no block is open");
    module.output(0, ones);
    module.finish()
}

/// A module that adds in a loop until the sum is below the first constant, and draws the sum. If
/// that constant is 0, the loop never ends.
///
/// llvmpipe (seen in Mesa 22.3.6) leaves the loops of an invocation after 65535 iterations,
/// whatever their conditions say. For that reason each iteration is long.
pub fn endless() -> Arc<[u32]> {
    let mut module = Fragment::new(3, &[]);
    let (float, vec4) = (module.float, module.vec4);
    let c = module.constants(&[0]);
    let b = &mut module.b;
    let boolean = b.type_bool();
    let zero = b.constant_bit32(float, 0);
    let one = b.constant_bit32(float, 1.0f32.to_bits());
    let (before, header, body, again, merge, next) = (b.id(), b.id(), b.id(), b.id(), b.id(), b.id());
    b.branch(before).expect("a block is open");
    b.begin_block(Some(before)).expect("no block is open");
    b.branch(header).expect("a block is open");
    b.begin_block(Some(header)).expect("no block is open");
    let sum = b.phi(float, None, [(zero, before), (next, again)]).expect("a block is open");
    let goes_on = b.f_ord_greater_than_equal(boolean, None, sum, c[0]).expect("a block is open");
    b.loop_merge(merge, again, LoopControl::NONE, []).expect("a block is open");
    b.branch_conditional(goes_on, body, merge, []).expect("a block is open");
    b.begin_block(Some(body)).expect("no block is open");
    b.branch(again).expect("a block is open");
    b.begin_block(Some(again)).expect("no block is open");
    let mut term = sum;
    for _ in 0..64 {
        // The continued fraction of the golden ratio: no step can be left out.
        let more = b.f_add(float, None, term, one).expect("a block is open");
        term = b.f_div(float, None, one, more).expect("a block is open");
    }
    b.f_add(float, Some(next), sum, term).expect("a block is open");
    b.branch(header).expect("a block is open");
    b.begin_block(Some(merge)).expect("no block is open");
    let value = b.composite_construct(vec4, None, [sum; 4]).expect("a block is open");
    module.output(0, value);
    module.finish()
}

/// A dispatch with one four-lane output at location 0, without constants.
pub fn dispatch(words: Arc<[u32]>, width: u32, height: u32) -> FragmentDispatch {
    FragmentDispatch {
        words,
        entry: "main".into(),
        width,
        height,
        outputs: vec![Target { location: 0, components: 4 }],
        constants: Vec::new(),
    }
}
