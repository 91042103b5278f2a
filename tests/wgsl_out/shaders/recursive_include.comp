#version 450
layout(local_size_x=1, local_size_y=1, local_size_z=1) in;
layout(std430, binding=3) buffer X {
    int data[];
} x;
void swap_(inout int a, inout int b) {
    int t=a;
    a=b;
    b=t;
}
void main() {
    int n=min(x.data.length(), 6);
    for (int i=0;i<n;i++) for (int j=0;j<n-1-i;j++) if (x.data[j]>x.data[j+1]) swap_(x.data[j], x.data[j+1]);
}
