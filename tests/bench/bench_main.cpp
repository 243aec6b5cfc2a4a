#include "widgets/common/theme.h"

#include <QApplication>
#include <QTemporaryDir>

#include <benchmark/benchmark.h>

// One application for all benchmarks, offscreen, with a home of its own. It ends with main: a static one would outlive
// the icons, fonts and styles that it still asks on its way out.
int main(int argc, char** argv) {
    const QTemporaryDir home;
    qputenv("ORRERY_CONFIG_HOME", home.path().toUtf8());
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    orrery::ui::initialiseApplicationLook();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
