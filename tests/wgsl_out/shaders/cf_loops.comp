#version 450
layout(local_size_x=8) in;
layout(std430, binding=0) buffer B {
    int o[];
};
void main() {
    int i=int(gl_LocalInvocationID.x);
    int s=0;
    for (int a=0;a<5;a++) {
        int b=0;
        while (true) {
            b++;
            if (b>a+i) break;
            do {
                s+=b;
                if ((s&7)==3) break;
                s++;
            } while (s<50);
            if (s>70) {
                a+=2;
                break;
            }
            if ((s&3)==1) continue;
            s+=3;
        }
        if (s>90) {
            o[i]=-s;
            return;
        }
    }
    o[i]=s;
}
