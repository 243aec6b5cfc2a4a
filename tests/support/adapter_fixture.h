#pragma once

// Adapters and the programs that they ask, written by tests.

#include "hardware/files/catalogue.h"
#include "methods/adapter/adapter_method.h"
#include "workload/workload.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <string>

namespace orrery::test {

/// A folder with an adapter `tool.yaml` and its program `tool`, a script.
class StandIn {
public:
    explicit StandIn(const QString& name = "stand in") {
        QDir(root_.path()).mkpath(name);
        folder_ = root_.filePath(name);
    }
    /// `more` replaces the lines from `read` on.
    void adapter(const QString& more = "read: {seconds: {column: seconds}}\ntime: {value: seconds, unit: s}\n",
                 const QString& command = "[\"${program}\", \"${m}\", \"${n}\", \"${k}\"]") {
        write("tool.yaml", "orrery: adapter/1\ntitle: Stand-in\ntakes: [gemm]\nprogram: {find: [./tool]}\ncommand: " +
                               command + "\n" + more);
    }
    void program(const QString& script) {
        write("tool", "#!/bin/sh\n" + script);
        QFile::setPermissions(folder_ + "/tool", QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    void write(const QString& name, const QString& text) const {
        QDir(folder_).mkpath(QFileInfo(folder_ + "/" + name).path());
        QFile file(folder_ + "/" + name);
        if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write");
        file.write(text.toUtf8());
    }
    QString folder() const { return folder_; }
    std::string file() const { return (folder_ + "/tool.yaml").toStdString(); }
    std::string method(const std::string& more = {}) const { return "adapter(file=" + file() + more + ")"; }

private:
    QTemporaryDir root_;
    QString folder_;
};

inline Scenario products(const std::string& device = "h100-sxm") {
    WorkloadRecipe recipe{.source = "bert-large"};
    recipe.options.sequence = 64;
    return {std::make_shared<const Hardware>(loadHardware(device)->hardware), *loadWorkload(recipe)};
}

inline Expected<Estimate> asked(const std::string& choice, const Scenario& scenario, std::stop_token stop = {}) {
    const auto read = methodChoice(choice, builtinMethods());
    if (!read) return tl::unexpected(read.error());
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, std::move(stop)};
    context.options = read->options;
    return estimate(*findMethod(read->id), scenario, context);
}

}  // namespace orrery::test
