//! The second pass of loading: control flow, dominance, and the type of every operand of a function body.

use rspirv::spirv::{Decoration as Decorate, StorageClass};
use smallvec::SmallVec;

use super::cfg::{self, Graph};
use super::error::{Check, LoadError, Place};
use super::grammar::{self, Op};
use super::module::{Block, Function, Module, NO_BLOCK, WHOLE};
use super::operation::{self, Operation, Scalar, Shape};
use super::words::Instruction;

type Checked<T = ()> = Result<T, LoadError>;

/// Checks the bodies of all functions.
pub(super) fn check(module: &Module) -> Checked {
    for function in &module.functions {
        let mut pass = Pass { module, function, index: 0, graph: Graph::new(Vec::new()), seen: Vec::new(), block: 0 };
        pass.control_flow()?;
        pass.bodies()?;
    }
    Ok(())
}

struct Pass<'m> {
    module: &'m Module,
    function: &'m Function,
    index: usize,
    graph: Graph,
    /// Per block, who marked it last.
    seen: Vec<u32>,
    block: u32,
}

impl<'m> Pass<'m> {
    #[cold]
    fn fail<T>(&self, check: Check, what: impl Into<String>) -> Checked<T> {
        Err(LoadError::Invalid { check, what: what.into(), at: self.place() })
    }

    #[cold]
    fn unsupported<T>(&self, what: impl Into<String>) -> Checked<T> {
        Err(LoadError::Unsupported { what: what.into(), at: self.place() })
    }

    fn place(&self) -> Place {
        self.module.place(self.index)
    }

    fn blocks(&self) -> &'m [Block] {
        &self.module.blocks[self.function.first_block as usize..self.function.end_block as usize]
    }

    fn operands(&self, i: &Instruction) -> &'m [u32] {
        i.operands(&self.module.words)
    }

    fn instruction(&self) -> Instruction {
        self.module.instructions[self.index]
    }

    /// The block of this function that has that label, by its index in the function.
    fn target(&self, label: u32, check: Check) -> Checked<u32> {
        let Some(index) = self.module.definition(label) else {
            return self.fail(Check::UndefinedId, format!("%{label} is used but no instruction defines it"));
        };
        let block = self.module.block_of[index];
        let range = self.function.first_block..self.function.end_block;
        if !self.module.instructions[index].is(Op::Label) || !range.contains(&block) {
            return self.fail(check, format!("{} names %{label}, which is no block of this function", self.instruction().name()));
        }
        Ok(block - range.start)
    }

    /// Builds the graph; checks branches, merges and the order of blocks.
    fn control_flow(&mut self) -> Checked {
        let blocks = self.blocks();
        let mut successors = Vec::with_capacity(blocks.len());
        for block in blocks {
            self.index = block.end as usize - 1;
            let i = self.instruction();
            let operands = self.operands(&i);
            let mut next = [cfg::NONE; 2];
            match i.op {
                Op::Branch => next[0] = self.branch(operands[0])?,
                Op::BranchConditional => {
                    next = [self.branch(operands[1])?, self.branch(operands[2])?];
                    if operands.len() != 3 && operands.len() != 5 {
                        return self.fail(Check::Type, "OpBranchConditional has one branch weight; it has two or none");
                    }
                }
                _ => {}
            }
            successors.push(next);
        }
        self.graph = Graph::new(successors);
        self.merges()?;
        for (node, block) in blocks.iter().enumerate() {
            let node = node as u32;
            self.index = block.start as usize - 1;
            let dominator = self.graph.immediate_dominator(node);
            if dominator != cfg::NONE && dominator > node {
                let what = format!("block %{} stands before block %{}, which dominates it", block.label, blocks[dominator as usize].label);
                return self.fail(Check::BlockOrder, what);
            }
            self.index = block.end as usize - 1;
            for to in self.graph.successors(node) {
                if to != cfg::NONE && self.graph.reachable(node) && self.graph.dominates(to, node) && !self.is_loop_header(to) {
                    let what = format!("the branch back to %{} goes to a block without an OpLoopMerge", blocks[to as usize].label);
                    return self.fail(Check::BackEdge, what);
                }
                if to != cfg::NONE && self.graph.reachable(node) && self.graph.dominates(to, node) {
                    self.back_edge(node, to)?;
                }
            }
        }
        Ok(())
    }

    fn branch(&self, label: u32) -> Checked<u32> {
        match self.target(label, Check::BranchTarget)? {
            0 => self.fail(Check::EntryBlock, format!("a branch goes to %{label}, the function's first block")),
            node => Ok(node),
        }
    }

    fn is_loop_header(&self, node: u32) -> bool {
        let code = self.module.code(&self.blocks()[node as usize]);
        code.len() >= 2 && code[code.len() - 2].is(Op::LoopMerge)
    }

    /// Checks a branch back to a loop's header: it comes from the loop's continue construct.
    fn back_edge(&self, from: u32, header: u32) -> Checked {
        let code = self.module.code(&self.blocks()[header as usize]);
        let label = self.operands(&code[code.len() - 2])[1];
        let continues = self.target(label, Check::MergeTarget)?;
        if self.graph.dominates(continues, from) {
            return Ok(());
        }
        let [from, header] = [from, header].map(|node| self.blocks()[node as usize].label);
        let what = format!("the branch back from %{from} to %{header} does not come by way of %{label}, the loop's continue target");
        self.fail(Check::BackEdge, what)
    }

    /// Checks that every entry point of the function lists a variable that it reads or writes.
    fn interface(&self, pointer: u32) -> Checked {
        let Some(variable) = self.module.instruction(pointer).filter(|v| v.is(Op::Variable)) else { return Ok(()) };
        let class = self.operands(variable)[0];
        // Before SPIR-V 1.4 the interface is of inputs and outputs alone.
        if class != StorageClass::Input as u32 && class != StorageClass::Output as u32 && self.module.header.minor < 4 {
            return Ok(());
        }
        for entry in self.module.entry_points.iter().filter(|e| e.function == self.function.id) {
            let operands = self.operands(&self.module.instructions[entry.instruction as usize]);
            // The execution model, the function, the name, then the interface.
            let name_words = entry.name.len() / 4 + 1;
            if !operands[2 + name_words..].contains(&pointer) {
                let what = format!("{} uses %{pointer}, which the interface of {:?} does not list", self.instruction().name(), entry.name);
                return self.fail(Check::EntryPoint, what);
            }
        }
        Ok(())
    }

    /// Checks merge instructions; marks the blocks that are merged into.
    fn merges(&mut self) -> Checked {
        let blocks = self.blocks();
        self.seen = vec![u32::MAX; blocks.len()];
        for (node, block) in blocks.iter().enumerate() {
            for index in block.start..block.end {
                self.index = index as usize;
                let i = self.instruction();
                if !matches!(i.op, Op::SelectionMerge | Op::LoopMerge) {
                    continue;
                }
                let branch = self.module.instructions[self.index + 1].op;
                let for_it = match i.op {
                    Op::SelectionMerge => branch == Op::BranchConditional,
                    _ => matches!(branch, Op::BranchConditional | Op::Branch),
                };
                if index + 2 != block.end || !for_it {
                    return self.fail(Check::MergePlace, format!("{} does not stand right before the branch that it is for", i.name()));
                }
                let operands = self.operands(&i);
                let merge = self.target(operands[0], Check::MergeTarget)?;
                if merge == node as u32 || merge == 0 {
                    return self.fail(Check::MergeTarget, format!("{} names %{} as its merge block", i.name(), operands[0]));
                }
                if self.seen[merge as usize] != u32::MAX {
                    let other = blocks[self.seen[merge as usize] as usize].label;
                    return self.fail(Check::MergeTarget, format!("%{} is the merge block of %{other} too", operands[0]));
                }
                self.seen[merge as usize] = node as u32;
                if i.is(Op::LoopMerge) {
                    let continues = self.target(operands[1], Check::MergeTarget)?;
                    if continues == merge || continues == 0 {
                        return self.fail(Check::MergeTarget, format!("OpLoopMerge names %{} as its continue target", operands[1]));
                    }
                }
            }
        }
        Ok(())
    }

    fn bodies(&mut self) -> Checked {
        self.seen.fill(u32::MAX);
        for (node, block) in self.blocks().iter().enumerate() {
            self.block = node as u32;
            let mut phis = true;
            for index in block.start..block.end {
                self.index = index as usize;
                let i = self.instruction();
                match i.op {
                    Op::Phi if !phis => {
                        return self.fail(Check::PhiPlace, format!("%{} = OpPhi stands after another instruction of its block", i.result));
                    }
                    Op::Phi => self.phi(&i)?,
                    Op::Line | Op::NoLine => {}
                    _ => {
                        phis = false;
                        self.body(&i)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The shape of an operand, which must be a value whose definition dominates block `at`.
    fn value_at(&self, id: u32, at: u32) -> Checked<(usize, Shape)> {
        let Some(index) = self.module.definition(id) else {
            return self.fail(Check::UndefinedId, format!("%{id} is used but no instruction defines it"));
        };
        let definition = &self.module.instructions[index];
        if definition.result_type == 0 || definition.is(Op::Function) {
            return self.fail(Check::KindOfId, format!("%{id} must be a value, but it is the result of {}", definition.name()));
        }
        let block = self.module.block_of[index];
        if block != NO_BLOCK {
            let range = self.function.first_block..self.function.end_block;
            if !range.contains(&block) || block - range.start != at && !self.graph.dominates(block - range.start, at) {
                return self.fail(Check::Dominance, format!("the definition of %{id} does not dominate its use"));
            }
        }
        Ok((index, self.module.shapes[index]))
    }

    fn value(&self, id: u32) -> Checked<Shape> {
        let (index, shape) = self.value_at(id, self.block)?;
        if index >= self.index {
            return self.fail(Check::DefinedBeforeUse, format!("%{id} is used before the instruction that defines it"));
        }
        Ok(shape)
    }

    fn phi(&mut self, i: &Instruction) -> Checked {
        let result = self.module.shapes[self.index];
        if !result.is_lanes() {
            return self.unsupported(format!("OpPhi of {result}"));
        }
        let operands = self.operands(i);
        let expected = self.graph.predecessors(self.block).len();
        if operands.len() != 2 * expected {
            let what = format!("%{} = OpPhi has {} parents; its block has {expected} predecessors", i.result, operands.len() / 2);
            return self.fail(Check::PhiParents, what);
        }
        for pair in operands.chunks_exact(2) {
            let (value, label) = (pair[0], pair[1]);
            let parent = self.target(label, Check::PhiParents)?;
            if !self.graph.successors(parent).contains(&self.block) {
                let what = format!("parent %{label} of %{} = OpPhi does not branch to its block", i.result);
                return self.fail(Check::PhiParents, what);
            }
            if std::mem::replace(&mut self.seen[parent as usize], self.index as u32) == self.index as u32 {
                return self.fail(Check::PhiParents, format!("%{} = OpPhi names parent %{label} twice", i.result));
            }
            let (_, shape) = self.value_at(value, parent)?;
            if shape != result {
                let what = format!("%{} = OpPhi is {result}, but its operand %{value} is {shape}", i.result);
                return self.fail(Check::Type, what);
            }
        }
        Ok(())
    }

    fn body(&self, i: &Instruction) -> Checked {
        let operands = self.operands(i);
        if matches!(i.op, Op::Load | Op::Store | Op::AccessChain | Op::InBoundsAccessChain) {
            self.interface(operands[0])?;
        }
        match i.op {
            Op::Nop | Op::Branch | Op::Return | Op::Unreachable | Op::SelectionMerge | Op::LoopMerge => Ok(()),
            Op::BranchConditional => {
                let condition = self.value(operands[0])?;
                if condition != Shape::vector(Scalar::Bool, 1) {
                    return self.fail(Check::Type, format!("the condition of OpBranchConditional is {condition}; it must be bool"));
                }
                Ok(())
            }
            Op::ExtInst => {
                let (set, number) = (operands[0], operands[1]);
                // Load has refused every other set.
                if !self.module.instruction(set).is_some_and(|s| s.is(Op::ExtInstImport)) {
                    return self.fail(Check::KindOfId, format!("OpExtInst names %{set} as its set, which is no OpExtInstImport"));
                }
                match operation::glsl(number).filter(|o| o.op.is_some()) {
                    Some(operation) => self.operation(i, operation, &operands[2..]),
                    None => {
                        let name = grammar::set("GLSL.std.450").and_then(|s| s.by_number(number)).map_or("?", |e| e.opname);
                        self.unsupported(format!("OpExtInst GLSL.std.450 {name}"))
                    }
                }
            }
            Op::CompositeConstruct => self.construct(i, operands),
            Op::CompositeExtract => self.extract(i, operands),
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(i, operands),
            Op::Load => {
                let (class, pointee) = self.pointer(operands[0])?;
                if pointee != i.result_type {
                    let what = format!("OpLoad has result type %{}, but %{} points to %{pointee}", i.result_type, operands[0]);
                    return self.fail(Check::Type, what);
                }
                if class == StorageClass::Output as u32 {
                    return self.unsupported("OpLoad from Output");
                }
                let shape = self.module.shapes[self.index];
                if shape.scalar != Scalar::F32 {
                    return self.unsupported(format!("OpLoad of {shape}"));
                }
                Ok(())
            }
            Op::Store => {
                let (class, pointee) = self.pointer(operands[0])?;
                self.value(operands[1])?;
                let type_ = self.module.instruction(operands[1]).map_or(0, |v| v.result_type);
                if pointee != type_ {
                    let what = format!("OpStore stores %{}, of type %{type_}, where %{} points to %{pointee}", operands[1], operands[0]);
                    return self.fail(Check::Type, what);
                }
                if class == StorageClass::StorageBuffer as u32 {
                    return self.unsupported("OpStore to StorageBuffer");
                }
                if class != StorageClass::Output as u32 && class != StorageClass::Private as u32 {
                    return self
                        .fail(Check::Storage, format!("OpStore stores through %{}, which points to what is read-only", operands[0]));
                }
                Ok(())
            }
            op => match operation::core(op).filter(|o| o.op.is_some()) {
                Some(operation) => self.operation(i, operation, operands),
                None => self.unsupported(i.name()),
            },
        }
    }

    fn operation(&self, i: &Instruction, operation: Operation, operands: &[u32]) -> Checked {
        let mut shapes: SmallVec<[Shape; 3]> = SmallVec::new();
        for &id in operands.iter().take(4) {
            shapes.push(self.value(id)?);
        }
        let result = self.module.shapes[self.index];
        if operation.signature.fits(&shapes, result, self.module.header.minor >= 4) {
            return match shapes.iter().chain([&result]).find(|s| !s.is_lanes()) {
                Some(shape) => self.unsupported(format!("{} of {shape}", i.name())),
                None => Ok(()),
            };
        }
        let found: Vec<String> = shapes.iter().map(|s| s.to_string()).collect();
        let what = format!(
            "%{} = {} has operands {} and result {result}; it takes {}",
            i.result,
            i.name(),
            found.join(", "),
            operation.signature.requirement()
        );
        self.fail(Check::Type, what)
    }

    fn construct(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let result = self.module.shapes[self.index];
        if !result.is_lanes() {
            return self.unsupported(format!("OpCompositeConstruct of {result}"));
        }
        let mut lanes = 0;
        for &id in operands {
            let part = self.value(id)?;
            let fits = match result.columns {
                1 => part.scalar == result.scalar && part.columns == 1,
                _ => part == Shape { columns: 1, ..result },
            };
            if !fits {
                let what = format!("%{} = OpCompositeConstruct is {result}, but its constituent %{id} is {part}", i.result);
                return self.fail(Check::Type, what);
            }
            lanes += part.lanes();
        }
        if lanes != result.lanes() || operands.len() < 2 {
            let what =
                format!("%{} = OpCompositeConstruct has {lanes} components in {} constituents for {result}", i.result, operands.len());
            return self.fail(Check::Type, what);
        }
        Ok(())
    }

    fn extract(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let composite = self.value(operands[0])?;
        if !composite.is_lanes() {
            return self.unsupported(format!("OpCompositeExtract of {composite}"));
        }
        let result = self.module.shapes[self.index];
        let mut shape = composite;
        for &index in &operands[1..] {
            let (count, part) = match (shape.rows, shape.columns) {
                (1, 1) => (0, shape),
                (rows, 1) => (rows, Shape { rows: 1, ..shape }),
                (_, columns) => (columns, Shape { columns: 1, ..shape }),
            };
            if index >= u32::from(count) {
                let what = format!("%{} = OpCompositeExtract has index {index} into {shape}, which has {count} parts", i.result);
                return self.fail(Check::Type, what);
            }
            shape = part;
        }
        if shape != result || operands.len() < 2 {
            return self.fail(Check::Type, format!("%{} = OpCompositeExtract has result {result}, but it extracts {shape}", i.result));
        }
        Ok(())
    }

    /// The storage class and pointee of an operand that must be a pointer.
    fn pointer(&self, id: u32) -> Checked<(u32, u32)> {
        self.value(id)?;
        let pointer = self.module.instruction(id).and_then(|p| self.module.pointer_type(p.result_type));
        match pointer {
            Some(pointer) => Ok(pointer),
            None => self.fail(Check::Type, format!("%{id} must be a pointer")),
        }
    }

    fn access_chain(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let (class, mut type_id) = self.pointer(operands[0])?;
        for whole in [StorageClass::Output, StorageClass::Private] {
            if class == whole as u32 {
                return self.unsupported(format!("{} into {whole:?}", i.name()));
            }
        }
        let in_buffer = class != StorageClass::Input as u32;
        for &id in &operands[1..] {
            if !self.value(id)?.scalar.is_int() {
                return self.fail(Check::AccessIndex, format!("index %{id} of %{} is no integer", i.result));
            }
            let Some(index) = self.module.integer(id) else {
                return self.unsupported(format!("{} with an index that is no constant (%{id})", i.name()));
            };
            type_id = self.part(i, type_id, index, in_buffer)?;
        }
        if self.module.pointer_type(i.result_type) != Some((class, type_id)) {
            let what = format!("%{} has a result type that is no pointer to %{type_id} in its base's storage class", i.result);
            return self.fail(Check::Type, what);
        }
        Ok(())
    }

    /// The type of part `index` of a type, with its place in a buffer checked.
    fn part(&self, i: &Instruction, type_id: u32, index: i64, in_buffer: bool) -> Checked<u32> {
        let type_ = self.module.instruction(type_id).expect("a pointee's type was checked where the pointer type was");
        let operands = self.operands(type_);
        match type_.op {
            Op::TypeStruct => {
                let Some(&member) = usize::try_from(index).ok().and_then(|m| operands.get(m)) else {
                    let what = format!("%{} indexes member {index} of a structure with {} members", i.result, operands.len());
                    return self.fail(Check::AccessIndex, what);
                };
                self.placed(type_id, self.module.decoration(type_id, index as u32, Decorate::Offset), "Offset", 0, in_buffer)?;
                let shape = self.module.shape(member);
                if shape.columns > 1 {
                    let stride = self.module.decoration(type_id, index as u32, Decorate::MatrixStride);
                    self.placed(type_id, stride, "MatrixStride", 4 * u64::from(shape.rows), in_buffer)?;
                }
                Ok(member)
            }
            Op::TypeArray | Op::TypeRuntimeArray => {
                let element = self.module.definition(operands[0]).unwrap_or(0);
                if self.module.shapes[element].columns > 1 {
                    return self.unsupported("an array of matrices in a buffer");
                }
                let stride = self.module.decoration(type_id, WHOLE, Decorate::ArrayStride);
                self.placed(type_id, stride, "ArrayStride", self.module.sizes[element], in_buffer)?;
                Ok(operands[0])
            }
            Op::TypeVector | Op::TypeMatrix => Ok(operands[0]),
            _ => self.fail(Check::AccessIndex, format!("%{} indexes {}, which has no parts", i.result, type_.name())),
        }
    }

    fn placed(&self, type_id: u32, value: Option<u32>, decoration: &str, least: u64, in_buffer: bool) -> Checked {
        match value {
            _ if !in_buffer => Ok(()),
            None => self.fail(Check::Layout, format!("%{type_id} has no {decoration} and is in a buffer")),
            Some(bytes) if bytes % 4 != 0 => self.fail(Check::Layout, format!("{decoration} {bytes} of %{type_id} is no multiple of 4")),
            Some(bytes) if u64::from(bytes) < least => {
                self.fail(Check::Layout, format!("{decoration} {bytes} of %{type_id} is below the {least} bytes that it strides over"))
            }
            Some(_) => Ok(()),
        }
    }
}
