#version 450
layout(local_size_x=4) in;
layout(std430, binding=0) buffer B {
    int o[4];
    int n;
};
int f(int x) {
    switch (x) {
        case 0: return 3;
        case 1: return 4;
        default: return 5;
    }
}
int g(int x) {
    if (x>2) return 1;
    else {
        if (x<0) return 2;
        else return 3;
    }
}
int h(int x) {
    for (;;) {
        x++;
        if (x>9) return x;
    }
}
int k(int x) {
    do {
        if (x>3) return 7;
        x+=2;
    } while (true);
    return 9;
}
int m(int x) {
    while (true) {
        switch (x) {
            case 1: x=5;
            continue;
            case 5: return 11;
            default: x=1;
            break;
        }
    }
}
void main() {
    int i=int(gl_LocalInvocationID.x);
    o[i]=f(i)+g(i-1)+h(i)+k(i)+m(i)+n;
}
