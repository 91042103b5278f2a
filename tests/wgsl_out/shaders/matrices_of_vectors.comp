#version 450
layout(local_size_x=8) in;
layout(set=0,binding=0,std430) buffer A { vec4 a[]; };
void main(){
  uint i=gl_GlobalInvocationID.x; if (i>=a.length()) return;
  vec4 v=a[i]; int e; float fr = frexp(v.x, e); float ip; float mf = modf(v.y, ip);
  vec3 n = normalize(v.xyz + vec3(1e-3)); mat3 m = mat3(n, cross(n, vec3(0,1,0)), v.wzy);
  mat3 inv = inverse(m + mat3(4.0)); float d = determinant(m); mat3 t = transpose(m); mat2x3 o = outerProduct(v.xyz, v.xy);
  vec3 r = reflect(v.xyz, n) + refract(n, n.yzx, 0.7) + faceforward(v.xyz, n, n.zxy) + smoothstep(vec3(0), vec3(1), v.xyz);
  bvec3 lt = lessThan(v.xyz, n); vec3 s = mix(r, n, lt); float k = ldexp(fr, e) + mf + ip + d + (t*n).x + (o*v.zw).y + inv[0][1];
  a[i] = vec4(s * k, isnan(k)||isinf(v.w) ? 1.0 : roundEven(v.z) + fract(v.w) + mod(v.x, 3.0) + sign(v.y) + step(0.5, v.z) + atan(v.x, v.y) + exp2(v.z*0.1) + inversesqrt(abs(v.w)+1.0));
}
