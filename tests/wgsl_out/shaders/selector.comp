#version 450
layout(local_size_x=4) in;
layout(std430, binding=0) buffer B {
    int o[4];
    int n;
};
void main() {
    int i=int(gl_LocalInvocationID.x);
    int s=0;
    int k=i;
    for (int j=0;j<6;j++) {
        switch (k) {
            case 0: s+=5;
            case 1: s+=2;
            case 2: s*=2;
            k+=1;
            break;
            default: k-=2;
        }
        s+=k;
    }
    o[i]=s;
}
