//! Rules of the precise uniformity analysis: seed 001, applied to control-flow graphs.

macro_rules! uniformity_flow_rules {
    ($then:ident $($rows:tt)*) => {
        $then! { $($rows)*
            UniformityFlowNeed "uniformity/flow-need" Uniformity "001 Function validation" "uniformity::flow::single::flow_need" "an operation in block B that needs uniform control flow gives must ⇒ control(B)";
            UniformityFlowEntry "uniformity/flow-entry" Uniformity "001 Function validation; U-11" "uniformity::flow::single::flow_entry" "block B that every invocation of a call comes to gives control(B) ⇒ control of the call";
            UniformityFlowControl "uniformity/flow-control" Uniformity "001 Validating a statement; U-2, U-3, U-11" "uniformity::flow::single::flow_control" "block B control dependent on the branch at the end of A gives control(B) ⇒ branch(A)";
            UniformityFlowBranch "uniformity/flow-branch" Uniformity "001 Validating a statement" "uniformity::flow::single::flow_branch" "block A that ends in a branch on e gives branch(A) ⇒ {e, control(A)}";
            UniformityFlowOperand "uniformity/flow-operand" Uniformity "001 Expressions" "uniformity::flow::single::flow_operand" "v = f(e1, …, en) gives v ⇒ {e1, …, en}";
            UniformityFlowVarying "uniformity/flow-varying" Uniformity "001 Expressions; U-8, U-9" "uniformity::flow::single::flow_varying" "v that may differ between invocations gives v ⇒ cannot";
            UniformityFlowMerge "uniformity/flow-merge" Uniformity "001 Validating a statement; U-13" "uniformity::flow::single::flow_merge" "v = φ(v1 by the edge from A1, …, vn by the edge from An), not all the same value, gives v ⇒ {vi, branch(Ai)}, and control(Ai) for branch(Ai) where Ai has one edge";
            UniformityFlowIterate "uniformity/flow-iterate" Uniformity "001 Validating a statement; U-13" "uniformity::flow::single::flow_iterate" "v = φ(v1 before a loop, v2 from its last iteration) gives v ⇒ {v1, v2}";
            UniformityFlowAfter "uniformity/flow-after" Uniformity "001 Validating a statement; U-3" "uniformity::flow::single::flow_after" "v of the loop L, seen after it as w, gives w ⇒ {v, left(L)}";
            UniformityFlowLeave "uniformity/flow-leave" Uniformity "001 Validating a statement; U-3" "uniformity::flow::single::flow_leave" "an edge from A that leaves the loop L gives left(L) ⇒ branch(A), and control(A) for branch(A) where A has one edge";
        }
    };
}
