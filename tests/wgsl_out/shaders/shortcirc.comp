#version 450
layout(local_size_x=4) in;
layout(std430, binding=0) buffer B {
    int o[4];
    int a[8];
    int n;
};
bool side(inout int x) {
    x++;
    return x>3;
}
void main() {
    int i=int(gl_LocalInvocationID.x);
    int x=i;
    bool r=(i<3&&a[i]>2)||(side(x)&&!(a[i+1]==x));
    int y=r?(x>2?a[i]:side(x)?7:8):a[7-i];
    float z=float(y);
    for (float t=0.;t<1.;t+=.25) {
        if (r!=(z>t)) z-=t;
        else z*=.5;
    }
    o[i]=x*100+y+int(z);
}
