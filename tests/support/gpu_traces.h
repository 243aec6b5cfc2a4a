#pragma once

// Traces of small kernels, written by tests, in the form of Accel-Sim.

#include "simulation/gpu/trace.h"

#include <QFile>
#include <QString>
#include <QTemporaryDir>

#include <functional>

namespace orrery::test {

/// One instruction's line.
inline QString traceLine(const QString& text, int pc = 0, const char* mask = "ffffffff") {
    return QString("%1 %2 %3\n").arg(pc, 4, 16, QChar('0')).arg(mask).arg(text);
}

class GpuTraces {
public:
    struct Shape {
        int blocks = 1, threads = 32, shared = 0, registers = 32, stream = 0, version = 70;
        const char* name = "test";
        bool ends = true;  ///< an EXIT stands behind each body
    };
    using Body = std::function<QString(int block, int warp)>;

    QString path(const QString& name) const { return folder_.filePath(name); }
    QString write(const QString& text) {
        const QString path = folder_.filePath(QString("kernel-%1.traceg").arg(++files_));
        QFile file(path);
        if (file.open(QIODevice::WriteOnly)) file.write(text.toUtf8());
        return path;
    }
    /// The command that runs it.
    gpusim::TraceCommand command(const Shape& shape, const Body& body) {
        return {gpusim::TraceCommand::Kind::Kernel, 0, 0, write(trace(shape, body)).toStdString(), {}};
    }
    static QString trace(const Shape& shape, const Body& body) {
        QString text =
            QString(
                "-kernel name = %7\n-grid dim = (%1,1,1)\n-block dim = (%2,1,1)\n-shmem = %3\n-nregs = %4\n"
                "-cuda stream id = %5\n-binary version = %6\n-accelsim tracer version = 4\n-enable lineinfo = 0\n\n"
                "#format\n")
                .arg(shape.blocks)
                .arg(shape.threads)
                .arg(shape.shared)
                .arg(shape.registers)
                .arg(shape.stream)
                .arg(shape.version)
                .arg(shape.name);
        for (int b = 0; b < shape.blocks; ++b) {
            text += QString("#BEGIN_TB\n\nthread block = %1,0,0\n\n").arg(b);
            for (int w = 0; w < (shape.threads + 31) / 32; ++w) {
                const QString lines = body(b, w) + (shape.ends ? traceLine("0 EXIT 0 0 0", 0xff0) : QString());
                text += QString("warp = %1\ninsts = %2\n").arg(w).arg(lines.count('\n')) + lines + "\n";
            }
            text += "#END_TB\n\n";
        }
        return text;
    }

private:
    QTemporaryDir folder_;
    int files_ = 0;
};

}  // namespace orrery::test
