#version 450
layout(local_size_x=8) in;
layout(std430, binding=0) buffer B {
    int o[];
};
int f(int x) {
    switch (x) {
        case 0: return 5;
        case 1: x+=2;
        case 2: x*=3;
        break;
        case 7: {
            for (int i=0;i<9;i++) {
                if (i==x-4) return i;
                if (i==x-3) break;
            }
        }
        default: x-=1;
    }
    return x;
}
void main() {
    int i=int(gl_LocalInvocationID.x);
    int s=0;
    for (int k=0;k<10;k++) {
        switch (k^i) {
            case 3: continue;
            case 5: case 6: s+=f(k);
            break;
            default: if (s>100) break;
            s+=k;
        }
        if (s>200) break;
    }
    o[i]=s+f(i);
}
