//! Values, conditions and calls. Each comes with an estimate of whether it may differ
//! between threads.

use super::tree::{Expr, Kind};
use super::{Generator, Parameter, Shape, Signature, Var};

/// An expression, and whether its value may differ between threads.
type Value = (Expr, bool);

impl Generator {
    fn literal(&mut self) -> Expr {
        let n = self.random.below(5);
        Expr::text(Kind::Uint, format!("{n}u"))
    }

    /// An expression of type `uint`, uniform or not as requested.
    pub(super) fn uint(&mut self, depth: u32, uniform: bool) -> Value {
        if depth == 0 || self.percent(35) {
            return self.leaf(uniform);
        }
        match self.random.weighted(&[40, 8, 14, 7, 5, 4, 3, 4, 1]) {
            0 => {
                let op = self.random.pick(&["+", "+", "-", "^", "&", "|", "*"]);
                let (a, varies) = self.uint(depth - 1, uniform);
                let uniform_operand = uniform || self.percent(50);
                let (b, other) = self.uint(depth - 1, uniform_operand);
                (Expr::new(Kind::Uint, &format!("($ {op} $)"), [a, b]), varies || other)
            }
            1 => {
                let (c, varies) = self.condition(depth - 1, uniform);
                let ((a, first), (b, second)) = self.under_condition(varies, |g| (g.uint(depth - 1, uniform), g.uint(depth - 1, uniform)));
                (Expr::new(Kind::Uint, "($ ? $ : $)", [c, a, b]), varies || first || second)
            }
            2 => self.call_of(depth - 1, uniform).unwrap_or_else(|| self.leaf(uniform)),
            3 => {
                let (effect, (e, varies)) = (self.assignment(depth - 1, uniform), self.uint(depth - 1, uniform));
                match effect {
                    Some((effect, _)) => (Expr::new(Kind::Uint, "($, $)", [effect, e]), varies),
                    None => (e, varies),
                }
            }
            4 => match self.assignment(depth - 1, uniform) {
                Some((effect, varies)) => (Expr::new(Kind::Uint, "($)", [effect]), varies),
                None => self.leaf(uniform),
            },
            5 => self.step(uniform).unwrap_or_else(|| self.leaf(uniform)),
            6 => {
                let name = self.random.pick(&["min", "max"]);
                let ((a, varies), (b, other)) = (self.uint(depth - 1, uniform), self.uint(depth - 1, uniform));
                (Expr::new(Kind::Uint, &format!("{name}($, $)"), [a, b]), varies || other)
            }
            7 => self.value_after_barrier(depth - 1, uniform).unwrap_or_else(|| self.leaf(uniform)),
            // A zero that is computed from a value that may differ. The estimate says that it
            // differs too.
            _ => {
                let (a, _) = self.leaf(false);
                let zero = if self.percent(50) {
                    Expr::new(Kind::Uint, "($ & 0u)", [a])
                } else {
                    Expr::new(Kind::Uint, "($ - $)", [a.clone(), a])
                };
                (zero, true)
            }
        }
    }

    /// A value whose computation has a barrier or derivative, if that may stand here.
    fn value_after_barrier(&mut self, depth: u32, uniform: bool) -> Option<Value> {
        if self.may_diverge() && !self.slip() {
            return None;
        }
        self.needs_uniformity = true;
        let pairs = self.fitting(|v| v.shape == Shape::Pair && v.varies != uniform);
        if let Some(i) = self.pick(&pairs)
            && self.percent(30)
        {
            let v = &self.vars[i];
            return Some((Expr::text(Kind::Uint, format!("{}.met", v.name)), v.varies || self.fragment));
        }
        let (e, varies) = self.uint(depth, uniform);
        Some(match self.fragment {
            true => (Expr::new(Kind::Uint, "uint(fwidth(float($)))", [e]), true),
            false => {
                let barrier = self.barrier();
                (Expr::new(Kind::Uint, &format!("({barrier}, $)"), [e]), varies)
            }
        })
    }

    /// A random call of a barrier.
    pub(super) fn barrier(&mut self) -> &'static str {
        self.random.pick(&[
            "AllMemoryBarrierWithGroupSync()",
            "GroupMemoryBarrierWithGroupSync()",
            "DeviceMemoryBarrierWithGroupSync()",
            "sync()",
        ])
    }

    /// Makes an expression or a branch under a condition, and joins the estimates of the variables
    /// with those before it. `varies` says whether the condition may differ between threads.
    pub(super) fn under_condition<T>(&mut self, varies: bool, make: impl FnOnce(&mut Self) -> T) -> T {
        let before: Vec<bool> = self.vars.iter().map(|v| v.varies).collect();
        let outer = self.in_divergent_branch;
        self.in_divergent_branch |= varies;
        let result = make(self);
        self.in_divergent_branch = outer;
        for (v, before) in self.vars.iter_mut().zip(before) {
            v.varies |= before;
        }
        result
    }

    /// The value of a variable or of a part of it.
    fn leaf(&mut self, uniform: bool) -> Value {
        if uniform && self.percent(15) {
            return (self.literal(), false);
        }
        let uniform = uniform != self.slip();
        let fits = |g: &Self, v: &Var| -> bool {
            let varies = match v.shape {
                Shape::Group { .. } | Shape::Device | Shape::SharedPointer => true,
                Shape::Constant => return uniform,
                Shape::Bool | Shape::Atomic => return false,
                Shape::Pointer(target) | Shape::Reference(target) | Shape::PairPointer(target) => g.vars[target].varies,
                _ => v.varies,
            };
            varies != uniform
        };
        let fit: Vec<usize> = (0..self.vars.len()).filter(|&i| fits(self, &self.vars[i]) && self.is_visible(i)).collect();
        match self.pick(&fit) {
            Some(i) => self.read_variable(i, uniform),
            None => (self.literal(), false),
        }
    }

    /// An index below 4 (mask 3) or 8 (mask 7).
    fn index(&mut self, mask: u32, uniform: bool) -> Value {
        if self.percent(50) && uniform {
            let i = self.random.below(mask + 1);
            return (Expr::text(Kind::Uint, format!("{i}u")), false);
        }
        // Usually a variable, not an element of another array.
        let fit = self.fitting(|v| v.shape == Shape::Scalar && v.varies != uniform);
        let (e, varies) = match self.pick(&fit) {
            Some(i) if self.percent(75) => self.read_variable(i, uniform),
            _ if self.percent(20) => self.leaf(uniform),
            _ => (self.literal(), false),
        };
        // Literals are below 8, so they need no mask of 7.
        match e.is_number() && mask == 7 {
            true => (e, varies),
            false => (Expr::new(Kind::Uint, &format!("($ & {mask}u)"), [e]), varies),
        }
    }

    fn read_variable(&mut self, i: usize, uniform: bool) -> Value {
        let Var { name, shape, varies, .. } = self.vars[i].clone();
        let text = |text: String| Expr::text(Kind::Uint, text);
        match shape {
            Shape::Scalar => (text(name), varies),
            Shape::Pair => (text(format!("{name}.{}", self.random.pick(&["a", "b", "a", "b", "sum", "half", "first"]))), varies),
            Shape::PairPointer(target) => (text(format!("{name}->{}", self.random.pick(&["a", "b"]))), self.vars[target].varies),
            // No expression reads these variables directly.
            Shape::Bool | Shape::Atomic => (self.literal(), false),
            Shape::ConstantPointer => (text(format!("(*{name})")), varies),
            Shape::SharedPointer => (text(format!("(*{name})")), true),
            Shape::Vector => (text(format!("{name}.{}", self.random.pick(&["x", "y", "z", "w"]))), varies),
            Shape::Parameter => (text(format!("(*{name})")), varies),
            Shape::Pointer(target) => (text(format!("(*{name})")), self.vars[target].varies),
            Shape::Array | Shape::Reference(_) | Shape::ReferenceParameter => {
                let varies = if let Shape::Reference(target) = shape { self.vars[target].varies } else { varies };
                let (index, other) = self.index(3, true);
                (Expr::new(Kind::Uint, &format!("{name}[$]"), [index]), varies || other)
            }
            Shape::Group { .. } | Shape::Device => {
                let (uniform, mask) = (self.percent(20), self.mask(i));
                let (index, _) = self.index(mask, uniform);
                (Expr::new(Kind::Uint, &format!("{name}[$]"), [index]), true)
            }
            Shape::Constant => {
                let (index, other) = self.index(7, uniform);
                (Expr::new(Kind::Uint, "c[$]", [index]), other)
            }
        }
    }

    fn mask(&self, i: usize) -> u32 {
        if matches!(self.vars[i].shape, Shape::Group { .. } | Shape::Device) { 7 } else { 3 }
    }

    /// A condition, uniform or not as requested.
    pub(super) fn condition(&mut self, depth: u32, uniform: bool) -> Value {
        if depth > 0 && self.percent(25) {
            let op = self.random.pick(&["&&", "||"]);
            let uniform_operand = uniform || self.percent(30);
            let (a, first) = self.condition(depth - 1, uniform_operand);
            let (b, second) = self.under_condition(first, |g| g.condition(depth - 1, uniform));
            let (open, close) = if self.percent(20) { ("!(", ")") } else { ("(", ")") };
            return (Expr::new(Kind::Bool, &format!("{open}$ {op} ${close}"), [a, b]), first || second);
        }
        let bools = self.fitting(|v| v.shape == Shape::Bool && v.varies != uniform);
        if let Some(i) = self.pick(&bools)
            && self.percent(35)
        {
            return (Expr::text(Kind::Bool, self.vars[i].name.clone()), self.vars[i].varies);
        }
        let op = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let (mut a, mut varies) = self.uint(depth, uniform);
        // With a literal as the first operand, the result is often known in advance.
        if a.is_number() {
            (a, varies) = self.uint(depth + 1, uniform);
        }
        if self.percent(75) {
            // Few values are larger than these literals.
            let n = self.random.pick(if self.fragment { &[1, 1, 1, 1, 2] } else { &[1, 1, 1, 2, 2, 3] });
            return (Expr::new(Kind::Bool, &format!("($ {op} {n}u)"), [a]), varies);
        }
        let (b, other) = self.uint(depth.saturating_sub(1), uniform);
        (Expr::new(Kind::Bool, &format!("($ {op} $)"), [a, b]), varies || other)
    }

    /// A variable, or a part of it, that can be stored to: the text, the index of the variable, and
    /// whether the place is the whole variable.
    pub(super) fn place(&mut self) -> Option<(Expr, usize, bool)> {
        let own = self.fitting(|v| {
            v.writable && !matches!(v.shape, Shape::Bool | Shape::ConstantPointer | Shape::SharedPointer)
                || matches!(v.shape, Shape::Parameter | Shape::ReferenceParameter)
        });
        let shared = self.fitting(|v| matches!(v.shape, Shape::Group { .. } | Shape::Device | Shape::SharedPointer));
        let i = match self.percent(70) && !own.is_empty() {
            true => self.pick(&own)?,
            false => self.pick(&shared)?,
        };
        let name = self.vars[i].name.clone();
        let text = |text: String| Expr::text(Kind::Other, text);
        Some(match self.vars[i].shape {
            Shape::Scalar => match self.random.below(20) {
                0 => (text(format!("*same(&{name})")), i, true),
                1 => match self.fitting(|v| v.shape == Shape::Scalar && v.writable)[..] {
                    // The first variable is stored to as well.
                    [first, ..] if first != i => {
                        let varies = self.vars[i].varies;
                        self.store(first, varies, true);
                        (text(format!("*second(&{}, &{name})", self.vars[first].name)), i, true)
                    }
                    _ => (text(name), i, true),
                },
                _ => (text(name), i, true),
            },
            Shape::Pair => (text(format!("{name}.{}", self.random.pick(&["a", "b", "a", "b", "half", "first"]))), i, false),
            Shape::PairPointer(_) => (text(format!("{name}->{}", self.random.pick(&["a", "b"]))), i, false),
            Shape::SharedPointer => (text(format!("*{name}")), i, false),
            Shape::Vector => (text(format!("{name}.{}", self.random.pick(&["x", "y", "z", "w"]))), i, false),
            Shape::Parameter | Shape::Pointer(_) => (text(format!("*{name}")), i, true),
            _ => {
                let (mask, uniform) = (self.mask(i), self.percent(60));
                let (index, varies) = self.index(mask, uniform);
                if varies {
                    self.store(i, true, false);
                }
                (Expr::new(Kind::Other, &format!("{name}[$]"), [index]), i, false)
            }
        })
    }

    /// Updates the estimate for a store.
    pub(super) fn store(&mut self, i: usize, varies: bool, whole: bool) {
        let varies = varies || self.may_diverge();
        let i = match self.vars[i].shape {
            Shape::Pointer(target) | Shape::Reference(target) | Shape::PairPointer(target) => target,
            _ => i,
        };
        self.vars[i].varies = varies || self.vars[i].varies && !whole;
        self.writes.push(i);
    }

    /// An assignment, as an expression.
    pub(super) fn assignment(&mut self, depth: u32, uniform: bool) -> Option<Value> {
        let (place, i, whole) = self.place()?;
        let (e, varies) = self.uint(depth, uniform);
        let op = self.random.pick(&["=", "=", "=", "=", "=", "+=", "-=", "^=", "&=", "*="]);
        self.store(i, varies, whole && op == "=");
        let varies = varies || op != "=" && self.vars[i].varies || self.may_diverge();
        Some((Expr::new(Kind::Uint, &format!("$ {op} $"), [place, e]), varies))
    }

    /// An increment or decrement.
    fn step(&mut self, uniform: bool) -> Option<Value> {
        let fit = self.fitting(|v| v.writable && v.shape == Shape::Scalar && v.varies != uniform);
        let i = self.pick(&fit)?;
        let varies = self.vars[i].varies;
        self.store(i, varies, true);
        let name = &self.vars[i].name;
        let text = match self.random.below(4) {
            0 => format!("{name}++"),
            1 => format!("(++{name})"),
            2 => format!("{name}--"),
            _ => format!("(--{name})"),
        };
        Some((Expr::text(Kind::Uint, text), varies))
    }

    /// A call of a function that returns a value.
    fn call_of(&mut self, depth: u32, uniform: bool) -> Option<Value> {
        let fit: Vec<Signature> = self.functions.iter().filter(|f| f.returns && (!f.varies || !uniform)).cloned().collect();
        if fit.is_empty() {
            return None;
        }
        let f = fit[self.random.below(fit.len() as u32) as usize].clone();
        self.call(&f, depth)
    }

    /// A call of the function, if it may be called here and there are arguments for it. The flag is
    /// whether its result may differ.
    pub(super) fn call(&mut self, f: &Signature, depth: u32) -> Option<Value> {
        if (f.needs_uniformity || f.discards) && self.may_diverge() && !self.slip() {
            return None;
        }
        let mut e = Expr::text(Kind::Uint, format!("{}(", f.name));
        let (mut varies, mut pointed) = (f.varies, Vec::new());
        for (n, &(parameter, may_vary)) in f.parameters.iter().enumerate() {
            if n > 0 {
                e.parts.push(super::Part::Text(", ".into()));
            }
            let text = |text: String| Expr::text(Kind::Other, text);
            let uniform = !may_vary;
            let argument = match parameter {
                Parameter::Value => {
                    let uniform = uniform || self.percent(30);
                    let (e, differs) = self.uint(depth.min(1), uniform);
                    varies |= differs && !may_vary;
                    e
                }
                Parameter::Pair => {
                    let fit = self.fitting(|v| v.shape == Shape::Pair && (!v.varies || may_vary));
                    let i = self.pick(&fit)?;
                    text(self.vars[i].name.clone())
                }
                Parameter::Pointer => {
                    let fit = self.fitting(|v| {
                        (!v.varies || may_vary)
                            && (v.writable && matches!(v.shape, Shape::Scalar | Shape::Pair | Shape::Pointer(_))
                                || v.shape == Shape::Parameter)
                    });
                    let i = self.pick(&fit)?;
                    pointed.push(i);
                    let name = &self.vars[i].name;
                    text(match self.vars[i].shape {
                        Shape::Scalar => format!("&{name}"),
                        Shape::Pair => format!("&{name}.a"),
                        _ => name.clone(),
                    })
                }
                Parameter::Reference => {
                    let fit = self.fitting(|v| {
                        (!v.varies || may_vary) && matches!(v.shape, Shape::Array | Shape::Reference(_) | Shape::ReferenceParameter)
                    });
                    let i = self.pick(&fit)?;
                    pointed.push(i);
                    let name = &self.vars[i].name;
                    text(if self.vars[i].shape == Shape::Array { format!("@{name}") } else { name.clone() })
                }
                Parameter::Group => {
                    let fit = self.fitting(|v| matches!(v.shape, Shape::Group { .. }));
                    let i = self.pick(&fit)?;
                    text(if self.vars[i].shape == (Shape::Group { reference: true }) { "part".into() } else { "@part".into() })
                }
                Parameter::Device | Parameter::Constant => {
                    let name = if parameter == Parameter::Device { "data" } else { "c" };
                    let fit = self.fitting(|v| v.name == name);
                    self.pick(&fit)?;
                    text(name.into())
                }
            };
            e.parts.push(super::Part::Expr(argument));
        }
        e.parts.push(super::Part::Text(")".into()));
        for i in pointed {
            let whole = matches!(self.vars[i].shape, Shape::Scalar);
            self.store(i, f.leaves_varying || varies && !f.varies, whole && !f.leaves_varying && !self.vars[i].varies);
        }
        self.needs_uniformity |= f.needs_uniformity;
        self.discards |= f.discards;
        self.some_threads_ended |= f.discards;
        Some((e, varies || self.in_divergent_branch))
    }
}
