//! Products, lengths, directions, lighting, transposition and the determinant: seed 003 "Intrinsic
//! functions".
//!
//! WSL specifies the order of each sum and the rounding of each operation. OpDot and the matrix
//! products leave the order open. So the elements are multiplied and added one by one.

use super::emit::Id;
use super::types::Shape;
use super::{Compiler, Done};
use rspirv::spirv::Op;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::types::{Scalar, TypeId};

impl Compiler<'_> {
    /// The elements of a scalar, vector or matrix, column after column.
    fn elements(&mut self, shape: Shape, id: Id) -> Vec<Id> {
        let ty = self.scalar(shape.scalar);
        let mut all = Vec::new();
        for c in 0..u32::from(shape.columns) {
            for r in 0..u32::from(shape.rows) {
                all.push(match (shape.columns, shape.rows) {
                    (1, 1) => id,
                    (1, _) => self.e.op(Op::CompositeExtract, ty, &[id, r]),
                    _ => self.e.op(Op::CompositeExtract, ty, &[id, c, r]),
                });
            }
        }
        all
    }

    fn scalar_operation(&mut self, meaning: Meaning, of: Scalar, args: &[Id]) -> Done<Id> {
        let to = match meaning {
            Meaning::Less => Scalar::Bool,
            _ => of,
        };
        match self.operation(meaning, of, to, 1, args)? {
            Some(id) => Ok(id),
            None => self.unforeseen(format!("{meaning:?} of {}", of.name())),
        }
    }

    fn float(&mut self, value: f32) -> Id {
        self.scalar_constant(Scalar::Float, value.to_bits())
    }

    fn op(&mut self, meaning: Meaning, args: &[Id]) -> Done<Id> {
        self.scalar_operation(meaning, Scalar::Float, args)
    }

    /// `x0 * y0 + x1 * y1 + …`, summed from left to right.
    fn dot(&mut self, of: Scalar, pairs: impl IntoIterator<Item = (Id, Id)>) -> Done<Id> {
        let mut sum = None;
        for (x, y) in pairs {
            let product = self.scalar_operation(Meaning::Multiply, of, &[x, y])?;
            sum = Some(match sum {
                None => product,
                Some(sum) => self.scalar_operation(Meaning::Add, of, &[sum, product])?,
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => self.unforeseen("a product of nothing"),
        }
    }

    fn length_of(&mut self, x: &[Id]) -> Done<Id> {
        let square = self.dot(Scalar::Float, x.iter().map(|&x| (x, x)))?;
        self.op(Meaning::Sqrt, &[square])
    }

    fn determinant(&mut self, m: &[Id], n: usize) -> Done<Id> {
        if n == 2 {
            let (left, right) = (self.op(Meaning::Multiply, &[m[0], m[3]])?, self.op(Meaning::Multiply, &[m[2], m[1]])?);
            return self.op(Meaning::Subtract, &[left, right]);
        }
        let mut sum = None;
        for row in 0..n {
            let minor: Vec<Id> = (n..n * n).filter(|i| i % n != row).map(|i| m[i]).collect();
            let factor = self.determinant(&minor, n - 1)?;
            let term = self.op(Meaning::Multiply, &[m[row], factor])?;
            sum = Some(match sum {
                None => term,
                Some(sum) if row % 2 == 1 => self.op(Meaning::Subtract, &[sum, term])?,
                Some(sum) => self.op(Meaning::Add, &[sum, term])?,
            });
        }
        sum.map_or_else(|| self.unforeseen("the determinant of nothing"), Ok)
    }

    /// The result of one of these functions. `None` for other functions.
    pub(super) fn algebra(&mut self, meaning: Meaning, ids: &[Id], types: &[TypeId], ty: TypeId) -> Done<Option<Id>> {
        use Meaning as M;
        let rule = match meaning {
            M::Dot | M::MatrixMultiply => Rule::CodegenProduct,
            M::Length | M::Normalize | M::Distance | M::Cross | M::Reflect | M::Refract | M::Faceforward | M::Dst | M::Lit => {
                Rule::CodegenGeometry
            }
            M::Transpose | M::Determinant => Rule::CodegenTranspose,
            _ => return Ok(None),
        };
        let saved = self.e.enter(rule);
        let done = self.algebra_of(meaning, ids, types, ty);
        self.e.rule = saved;
        done.map(Some)
    }

    fn algebra_of(&mut self, meaning: Meaning, ids: &[Id], types: &[TypeId], ty: TypeId) -> Done<Id> {
        use Meaning as M;
        let shapes: Option<Vec<Shape>> = types.iter().map(|t| self.shape(*t)).collect();
        let (Some(shapes), Some(result)) = (shapes, self.shape(ty)) else { return self.unforeseen(format!("{meaning:?}")) };
        let args: Vec<Vec<Id>> = ids.iter().zip(&shapes).map(|(&id, &shape)| self.elements(shape, id)).collect();
        let of = shapes[0].scalar;
        let elements: Vec<Id> = match (meaning, &args[..]) {
            (M::Dot, [_, _]) if of == Scalar::Float && self.e.is_letter(Rule::CodegenProduct) && shapes[0].rows > 1 => {
                let ty = self.scalar(of);
                vec![self.e.op(Op::Dot, ty, ids)]
            }
            (M::Dot, [x, y]) => vec![self.dot(of, x.iter().copied().zip(y.iter().copied()))?],
            (M::MatrixMultiply, [x, y]) => {
                let (left, right) = (shapes[0], shapes[1]);
                let at = |shape: Shape, c: u8, r: u8| usize::from(c) * usize::from(shape.rows) + usize::from(r);
                let mut all = Vec::new();
                for c in 0..right.columns {
                    if left.columns == 1 {
                        let pairs: Vec<(Id, Id)> = (0..left.rows).map(|r| (x[usize::from(r)], y[at(right, c, r)])).collect();
                        all.push(self.dot(of, pairs)?);
                        continue;
                    }
                    for r in 0..left.rows {
                        let pairs: Vec<(Id, Id)> = (0..left.columns).map(|k| (x[at(left, k, r)], y[at(right, c, k)])).collect();
                        all.push(self.dot(of, pairs)?);
                    }
                }
                all
            }
            (M::Length, [x]) => vec![self.length_of(x)?],
            (M::Normalize, [x]) => {
                let length = self.length_of(x)?;
                x.iter().map(|&x| self.op(M::Divide, &[x, length])).collect::<Done<_>>()?
            }
            (M::Distance, [x, y]) => {
                let difference: Vec<Id> = x.iter().zip(y).map(|(&x, &y)| self.op(M::Subtract, &[x, y])).collect::<Done<_>>()?;
                vec![self.length_of(&difference)?]
            }
            (M::Cross, [x, y]) => {
                let mut all = Vec::new();
                for (i, j) in [(1, 2), (2, 0), (0, 1)] {
                    let (left, right) = (self.op(M::Multiply, &[x[i], y[j]])?, self.op(M::Multiply, &[y[i], x[j]])?);
                    all.push(self.op(M::Subtract, &[left, right])?);
                }
                all
            }
            (M::Reflect, [i, n]) => {
                let (two, dot) = (self.float(2.0), self.dot(Scalar::Float, n.iter().copied().zip(i.iter().copied()))?);
                let twice = self.op(M::Multiply, &[two, dot])?;
                let mut all = Vec::new();
                for (&i, &n) in i.iter().zip(n) {
                    let back = self.op(M::Multiply, &[twice, n])?;
                    all.push(self.op(M::Subtract, &[i, back])?);
                }
                all
            }
            (M::Refract, [i, n, e]) => {
                let (zero, unit, e) = (self.float(0.0), self.float(1.0), e[0]);
                let d = self.dot(Scalar::Float, n.iter().copied().zip(i.iter().copied()))?;
                let (square, dd) = (self.op(M::Multiply, &[e, e])?, self.op(M::Multiply, &[d, d])?);
                let rest = self.op(M::Subtract, &[unit, dd])?;
                let product = self.op(M::Multiply, &[square, rest])?;
                let k = self.op(M::Subtract, &[unit, product])?;
                let is_none = self.op(M::Less, &[k, zero])?;
                let (ed, root) = (self.op(M::Multiply, &[e, d])?, self.op(M::Sqrt, &[k])?);
                let factor = self.op(M::Add, &[ed, root])?;
                let mut all = Vec::new();
                for (&i, &n) in i.iter().zip(n) {
                    let (along, back) = (self.op(M::Multiply, &[e, i])?, self.op(M::Multiply, &[factor, n])?);
                    let refracted = self.op(M::Subtract, &[along, back])?;
                    all.push(self.select(Rule::CodegenGeometry, Scalar::Float, 1, [is_none, zero, refracted]));
                }
                all
            }
            (M::Faceforward, [n, i, g]) => {
                let (zero, dot) = (self.float(0.0), self.dot(Scalar::Float, i.iter().copied().zip(g.iter().copied()))?);
                let is_facing = self.op(M::Less, &[dot, zero])?;
                let mut all = Vec::new();
                for &n in n {
                    let opposite = self.op(M::Negate, &[n])?;
                    all.push(self.select(Rule::CodegenGeometry, Scalar::Float, 1, [is_facing, n, opposite]));
                }
                all
            }
            (M::Dst, [a, b]) => vec![self.float(1.0), self.op(M::Multiply, &[a[1], b[1]])?, a[2], b[3]],
            (M::Lit, [l, h, m]) => {
                let (l, h, m) = (l[0], h[0], m[0]);
                let (zero, unit, truth) = (self.float(0.0), self.float(1.0), self.scalar(Scalar::Bool));
                let diffuse = self.op(M::Max, &[zero, l])?;
                let (behind, away) = (self.op(M::Less, &[l, zero])?, self.op(M::Less, &[h, zero])?);
                let is_dark = self.e.op(Op::LogicalOr, truth, &[behind, away]);
                let product = self.op(M::Multiply, &[h, m])?;
                let specular = self.select(Rule::CodegenGeometry, Scalar::Float, 1, [is_dark, zero, product]);
                vec![unit, diffuse, specular, unit]
            }
            (M::Transpose, [m]) => {
                let (columns, rows) = (usize::from(shapes[0].columns), usize::from(shapes[0].rows));
                (0..rows).flat_map(|r| (0..columns).map(move |c| c * rows + r)).map(|at| m[at]).collect()
            }
            (M::Determinant, [m]) => vec![self.determinant(m, shapes[0].columns.into())?],
            _ => return self.unforeseen(format!("{meaning:?}")),
        };
        self.built_of(result, &elements, ty)
    }
}
