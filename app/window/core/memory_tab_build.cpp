// How the memory's tab is put together.

#include "app/window/core/answer_side.h"
#include "app/window/core/core_traces.h"
#include "app/window/core/memory_tab.h"
#include "app/window/form_parts.h"
#include "simulation/dram/standard.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/plots/bar_list.h"

#include <QCheckBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

namespace orrery::app {

namespace {

constexpr int patience = 200;  ///< ms after the last edit before the memory runs

}  // namespace

MemoryTab::MemoryTab(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("core.memory"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(buildForm(this));
    row->addWidget(buildAnswer(this), 1);
    soon_.setSingleShot(true);
    soon_.setInterval(patience);
    connect(&soon_, &QTimer::timeout, this, &MemoryTab::run);
    connect(&work_, &Background::advanced, this, &MemoryTab::tell);
    connect(&work_, &Background::ended, this, &MemoryTab::tell);
    showRows();
    tell();
}

QWidget* MemoryTab::buildForm(QWidget* parent) {
    const ui::Theme& theme = ui::Theme::instance();
    const int unit = theme.unit();
    auto* side = new QWidget(parent);
    side->setFixedWidth(static_cast<int>(38 * unit * ui::formGrowth(theme.scale())));
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(unit * 3 / 2, unit, unit, unit);
    column->setSpacing(unit);
    form_ = new QFormLayout;
    form_->setSpacing(unit);
    memory_ = namedChoice(side, "core.memory.standard", tr("Memory"),
                          tr("One channel of a standard, or of a configuration file of Ramulator 2.1"));
    for (const DramStandard& each : dramStandards()) {
        if (each.family.starts_with("LPDDR")) continue;  // its rules need a file
        memory_->addItem(ui::qs(each.id), ui::qs(each.id));
        memory_->setItemData(memory_->count() - 1, ui::qs(each.source), Qt::ToolTipRole);
    }
    memory_->addItem(tr("configuration file"), QString());
    selectData(memory_, QStringLiteral("ddr4-3200aa"));
    configFile_ = named(new QPushButton(side), "core.memory.config", tr("Configuration file"),
                        tr("A fully expanded configuration of Ramulator 2.1 (.yaml)"));
    pattern_ = namedChoice(side, "core.memory.pattern", tr("Requests"), tr("The requested bursts, in order"));
    pattern_->addItem(tr("stream"), static_cast<int>(RequestPattern::Stream));
    pattern_->addItem(tr("stride"), static_cast<int>(RequestPattern::Stride));
    pattern_->addItem(tr("random"), static_cast<int>(RequestPattern::Random));
    pattern_->addItem(tr("trace file"), static_cast<int>(RequestPattern::Trace));
    traceFile_ = named(new QPushButton(side), "core.memory.trace", tr("Trace file"),
                       tr("One request per line: R 0xADDRESS or W 0xADDRESS"));
    requests_ = namedNumber(side, "core.memory.requests", tr("Number of requests"), tr("Number of requested bursts"), 1,
                            1'000'000);
    requests_->setValue(2000);
    stride_ =
        namedNumber(side, "core.memory.stride", tr("Stride"), tr("Bytes from one request to the next"), 1, 1 << 30);
    stride_->setValue(4096);
    stride_->setSuffix(tr(" B"));
    writes_ = namedNumber(side, "core.memory.writes", tr("Writes"), tr("Share of writes, in percent"), 0, 100);
    writes_->setSuffix(tr(" %"));
    mapping_ = namedChoice(side, "core.memory.mapping", tr("Address mapping"),
                           tr("Which bits of an address choose bank, row and column"));
    mapping_->addItem(tr("row by row (RoBaRaCoCh)"), QStringLiteral("RoBaRaCoCh"));
    mapping_->setItemData(0, tr("A row's bursts side by side: a stream stays in one bank group"), Qt::ToolTipRole);
    mapping_->addItem(tr("spread (MOP4CLXOR)"), QStringLiteral("MOP4CLXOR"));
    mapping_->setItemData(1, tr("Four bursts, then the next bank group; banks mixed with the column"), Qt::ToolTipRole);
    injection_ = namedChoice(side, "core.memory.injection", tr("Injection"), tr("When the next request is sent"));
    injection_->addItem(tr("as soon as there is room"), QStringLiteral("asap"));
    injection_->addItem(tr("every 10 cycles"), QStringLiteral("every10"));
    injection_->addItem(tr("after the read before"), QStringLiteral("chain"));
    page_ = namedChoice(side, "core.memory.page", tr("Page policy"), tr("When a row is closed"));
    page_->addItem(tr("open"), QStringLiteral("open"));
    page_->setItemData(0, tr("When another row of its bank is wanted"), Qt::ToolTipRole);
    page_->addItem(tr("closed"), QStringLiteral("closed"));
    page_->setItemData(1, tr("With the last read or write that waits for it"), Qt::ToolTipRole);
    currents_ = namedChoice(side, "core.memory.currents", tr("Supply currents"),
                            tr("Currents of a device, from which energy is counted: those of presets/memory, or a file "
                               "of your own"));
    showCurrents({});
    refresh_ = named(new QCheckBox(tr("with refresh"), side), "core.memory.refresh", tr("With refresh"),
                     tr("Whether rows are refreshed, as the standard requires"));
    refresh_->setChecked(true);
    form_->addRow(tr("Memory"), memory_);
    form_->addRow(tr("File"), configFile_);
    form_->addRow(tr("Requests"), pattern_);
    form_->addRow(tr("Trace"), traceFile_);
    form_->addRow(tr("Number"), requests_);
    form_->addRow(tr("Stride"), stride_);
    form_->addRow(tr("Writes"), writes_);
    form_->addRow(tr("Mapping"), mapping_);
    form_->addRow(tr("Injection"), injection_);
    form_->addRow(tr("Page"), page_);
    form_->addRow(tr("Currents"), currents_);
    form_->addRow(QString(), refresh_);
    column->addLayout(form_);
    unlike_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Warning, side);
    unlike_->setObjectName(QStringLiteral("core.memory.unlike"));
    unlike_->setWordWrap(true);
    column->addWidget(unlike_);
    problem_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Bad, side);
    problem_->setObjectName(QStringLiteral("core.memory.problem"));
    problem_->setWordWrap(true);
    column->addWidget(problem_);
    column->addStretch(1);
    export_ = named(new QPushButton(tr("Export …"), side), "core.memory.export", tr("Export the commands"),
                    tr("The picture as SVG, PNG or PDF; every command as CSV, LaTeX or a trace for Chrome and "
                       "Perfetto"));
    column->addWidget(export_);

    const auto edited = [this] {
        showRows();
        changed();
    };
    for (QComboBox* each : {memory_, pattern_, mapping_, injection_, page_})
        connect(each, &QComboBox::activated, this, edited);
    for (QSpinBox* each : {requests_, stride_, writes_}) connect(each, &QSpinBox::valueChanged, this, edited);
    connect(currents_, &QComboBox::activated, this, &MemoryTab::chooseCurrents);
    connect(refresh_, &QCheckBox::toggled, this, edited);
    connect(configFile_, &QPushButton::clicked, this,
            [this] { chooseFile(config_, tr("Choose a configuration"), tr("Configurations (*.yaml)")); });
    connect(traceFile_, &QPushButton::clicked, this,
            [this] { chooseFile(trace_, tr("Choose a trace"), tr("Traces (*.trace *.txt);;All files (*)")); });
    connect(export_, &QPushButton::clicked, this, [this] {
        emit exportWanted(
            tr("Export the commands"), QStringLiteral("memory.svg"),
            tr("SVG (*.svg);;PNG (*.png);;PDF (*.pdf);;CSV of the commands (*.csv);;TEX table of the commands "
               "(*.tex);;Chrome and Perfetto trace (*.json)"),
            [this](const QString& file) { return writeViewOrLanes(file, *timeline_, commandLanes); });
    });
    return side;
}

QWidget* MemoryTab::buildAnswer(QWidget* parent) {
    AnswerSide side(parent, QStringLiteral("core.memory"), tr("No run yet"));
    headline_ = side.headline;
    sub_ = side.sub;
    side.addRun(tr("The memory runs"), tr("The memory runs"), 0);
    progress_ = side.progress;
    cancel_ = side.cancel;
    const auto zoom = [&](const char* icon, const QString& name, const char* id, double factor) {
        auto* button = new ui::IconButton(QLatin1String(icon), name, QLatin1String(id), side.widget);
        side.head->addWidget(button);
        connect(button, &QToolButton::clicked, this,
                [this, factor] { factor > 0 ? timeline_->zoomBy(factor) : timeline_->fit(); });
    };
    zoom("zoom-in", tr("Zoom in"), "core.memory.in", 2);
    zoom("zoom-out", tr("Zoom out"), "core.memory.out", 0.5);
    zoom("zoom-fit-best", tr("Show the whole run"), "core.memory.fit", 0);
    connect(cancel_, &QPushButton::clicked, this, [this] { work_.cancel(); });
    QSplitter* panes = side.addPanes(tr("Commands and what binds"));
    timeline_ = new ui::CommandTimeline(panes);
    auto* below = named(new QSplitter(Qt::Horizontal, panes), "core.memory.below",
                        tr("Limits, best possible order, and energy"), tr("Drag a border to give one side more room"));
    below->setChildrenCollapsible(false);
    auto* left = named(new QSplitter(Qt::Vertical, below), "core.memory.left", tr("Limits and best possible order"),
                       tr("Drag the border to give one side more room"));
    left->setChildrenCollapsible(false);
    bindings_ = new ui::BarList(QStringLiteral("core.memory.bindings"), tr("What the data bus waited for"),
                                tr("Cycles of the data bus by what it waited for; the sum is the whole run"),
                                tr("This shows what the data bus did in the run."), left);
    bounds_ = new ui::BarList(QStringLiteral("core.memory.bounds"), tr("Least cycles for any order of the requests"),
                              tr("Least cycles of each timing, from counts; the bar is its share of the run"),
                              tr("This shows how fast the requests could be in the best order."), left);
    energy_ = new ui::BarList(QStringLiteral("core.memory.energy"), tr("Energy"),
                              tr("Energy by commands and standby; the parts sum to the run"),
                              tr("This shows the energy of the run."), below);
    left->addWidget(bindings_);
    left->addWidget(bounds_);
    below->addWidget(left);
    below->addWidget(energy_);
    below->setStretchFactor(0, 5);  // its words need the room
    below->setStretchFactor(1, 2);
    panes->addWidget(timeline_);
    panes->addWidget(below);
    side.finish(panes);
    veil_ = side.veil;
    return side.widget;
}

}  // namespace orrery::app
