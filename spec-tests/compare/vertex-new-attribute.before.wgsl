//@ compare: disagree
// AFTER asks for an attribute that BEFORE has not.
@vertex
fn main(@location(0) p: vec4<f32>) -> @builtin(position) vec4<f32> {
    return p;
}
