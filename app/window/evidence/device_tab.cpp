#include "app/window/evidence/device_tab.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "app/window/shown_export.h"
#include "app/window/state_line.h"
#include "evaluation/edge/edge_import.h"
#include "evaluation/edge/rank_confusion.h"
#include "evaluation/edge/topologies.h"
#include "learning/edge/space_features.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/evidence/rank_matrix.h"
#include "widgets/evidence/sample_curve.h"
#include "workload/workload.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QSplitter>
#include <QTabWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace orrery::app {

namespace {

QString shareText(double share) {
    return std::isfinite(share) ? QStringLiteral("%1 %").arg(100 * share, 0, 'f', 1) : QStringLiteral("–");
}

ui::Cell numberCell(double value) {
    return std::isfinite(value) ? ui::Cell{QString::number(value, 'g', 4), value, {}, ui::Tone::Normal, true}
                                : ui::Cell{QStringLiteral("–"), -1, {}, ui::Tone::Muted, true};
}

}  // namespace

DeviceTab::DeviceTab(QWidget* parent) : QWidget(parent), work_(new Background(this)) {
    state_ = addStateLine(this, buildForm(), "device.state");
    auto* column = static_cast<QVBoxLayout*>(layout());
    auto* split = named(new QSplitter(Qt::Horizontal, this), "device.split",
                        tr("What to measure, and what is predicted"), tr("Drag the border to give one part more room"));
    split->setChildrenCollapsible(false);
    auto* left = new QSplitter(Qt::Vertical, split);
    left->setObjectName(QStringLiteral("device.left"));
    left->setAccessibleName(tr("To measure and measured"));
    left->setToolTip(tr("Above: what to measure next. Below: what was measured"));
    left->setChildrenCollapsible(false);
    left->setMinimumWidth(50 * ui::Theme::instance().unit());  // of a code of 22 places and its error
    next_ = new ui::CellsTable(
        QStringLiteral("device.next"), tr("What to measure next"),
        tr("Measure in this order: each one narrows the others most. Right: the expected error afterwards"), left);
    measured_ = named(new QPlainTextEdit(left), "device.results", tr("What was measured"),
                      tr("One line each: the network's name as in the list, a comma, its latency in ms"));
    measured_->setPlaceholderText(tr("Paste results: network,latency_ms"));
    left->addWidget(next_);
    left->addWidget(measured_);
    auto* right = new QSplitter(Qt::Vertical, split);
    right->setObjectName(QStringLiteral("device.right"));
    right->setAccessibleName(tr("Errors and predicted latencies"));
    right->setToolTip(tr("Above: the error by samples. Below: every network's latency"));
    right->setChildrenCollapsible(false);
    QWidget* pictures = buildPictures(right);
    told_ =
        new ui::CellsTable(QStringLiteral("device.told"), tr("Predicted latencies"),
                           tr("Every network of the table: the prediction, its interval, what was measured"), right);
    right->addWidget(pictures);
    right->addWidget(told_);
    split->addWidget(left);
    split->addWidget(right);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 3);
    column->addWidget(split, 1);
    auto* typed = new QTimer(this);
    typed->setSingleShot(true);
    typed->setInterval(400);
    connect(measured_, &QPlainTextEdit::textChanged, typed, qOverload<>(&QTimer::start));
    connect(typed, &QTimer::timeout, this, &DeviceTab::ask);
    connect(device_, &QComboBox::currentIndexChanged, this, &DeviceTab::ask);
    connect(model_, &QComboBox::currentIndexChanged, this, &DeviceTab::ask);
    connect(count_, &QSpinBox::valueChanged, this, &DeviceTab::ask);
    say(
        tr("A few measured networks are enough to predict the others. Open a table of measured devices, measure the "
           "listed networks on your device, and paste the results. Each result reduces the error."));
    list_->setEnabled(false);
    results_->setEnabled(false);
    next_->setCells({tr("Measure next"), tr("Error then")}, {});
    told_->setCells({tr("Network"), tr("Predicted ms"), tr("From"), tr("To"), tr("Measured")}, {});
}

QWidget* DeviceTab::buildPictures(QWidget* parent) {
    const int unit = ui::Theme::instance().unit();
    auto* tabs = new QTabWidget(parent);
    tabs->setObjectName(QStringLiteral("device.pictures"));
    tabs->setAccessibleName(tr("Error by number of samples, and the order of networks on two devices"));
    tabs->setToolTip(tr("The error after each sample; the order of the networks on two devices"));
    tabs->setDocumentMode(true);
    const auto page = [&](QWidget* choice, QWidget* picture) {
        auto* whole = new QWidget(ui::stackOf(tabs));
        auto* column = new QVBoxLayout(whole);
        column->setContentsMargins(0, unit / 2, 0, 0);
        column->setSpacing(unit / 2);
        column->addWidget(choice, 0, Qt::AlignLeft);
        column->addWidget(picture, 1);
        return whole;
    };
    auto* figure = namedChoice(tabs, "device.figure", tr("Figure by samples"),
                               tr("The median error, the width of the intervals, or the error of the order"));
    figure->addItems({tr("Error"), tr("Interval"), tr("Order")});
    curve_ = new ui::SampleCurve(tabs);
    connect(figure, &QComboBox::currentIndexChanged, this,
            [this](int index) { curve_->setFigure(static_cast<ui::SampleCurve::Figure>(index)); });
    other_ = namedChoice(tabs, "device.other", tr("The other device"),
                         tr("A device of the table: its order of networks against that of your device"));
    other_->setMinimumContentsLength(24);
    ranks_ = new ui::RankMatrix(tabs);
    connect(other_, &QComboBox::currentIndexChanged, this, &DeviceTab::showRanks);
    tabs->addTab(page(figure, curve_), tr("Samples"));
    tabs->addTab(page(other_, ranks_), tr("Ranks"));
    return tabs;
}

void DeviceTab::compareWith(const QString& other) {
    other_->setCurrentIndex(other_->findData(other));
}

// Your device by its own times where the table has them, else by what is predicted for it.
void DeviceTab::showRanks() {
    const QString empty =
        tr("Choose another device of the table. If your device is new, paste its samples first. This shows the order "
           "of the networks on both devices.");
    const std::string name = other_->currentData().toString().toStdString();
    const std::size_t other = table_ ? table_->target(name) : 0;
    if (!table_ || other >= table_->targets.size()) return ranks_->setCells({}, {}, {}, empty);
    const std::string own = device_->currentData().toString().toStdString();
    const std::size_t at = table_->target(own);
    std::vector<double> first(table_->networks.size(), std::numeric_limits<double>::quiet_NaN());
    const bool measured = at < table_->targets.size();
    if (measured) {
        first = table_->values[at];
    } else if (answer_) {
        std::map<std::string_view, double> told;
        for (const EdgePrediction& each : answer_->told)
            told[each.network] = std::isnan(each.measured) ? each.predicted.mean : each.measured;
        for (std::size_t n = 0; n < first.size(); ++n)
            if (const auto found = told.find(table_->networks[n]); found != told.end()) first[n] = found->second;
    }
    const auto confusion = rankConfusion(first, table_->values[other]);
    if (!confusion)
        return ranks_->setCells({}, {}, {}, ui::windowText(confusion.error().message) + QStringLiteral(". ") + empty);
    const QString mine = measured ? ui::qs(own) : tr("your device, as predicted");
    ranks_->setCells(confusion->cells, mine, ui::qs(name),
                     tr("%1 networks, rank correlation %2; %3 of the fastest fifth of %4 is also the fastest of %5.")
                         .arg(confusion->networks)
                         .arg(confusion->spearman, 0, 'f', 3)
                         .arg(shareText(confusion->kept), mine, ui::qs(name)));
}

QWidget* DeviceTab::buildForm() {
    auto* form = new QWidget(this);
    auto* row = new ui::FlowLayout(ui::Theme::instance().unit(), form);
    auto* open = named(new QPushButton(tr("Known devices …"), form), "device.open", tr("Open known devices"),
                       tr("A CSV of networks measured on devices: a column per device, or a published table"));
    device_ = namedChoice(form, "device.which", tr("Your device"),
                          tr("A new one, or one of the table: it is then predicted from the others only"));
    device_->addItem(tr("A new device"), QString());
    model_ = namedChoice(
        form, "device.model", tr("Model"),
        tr("The model: operator counts (by name: the known devices), or a graph network. The graph network is fitted "
           "to the known devices in some seconds and predicts other networks too; by name it needs their topologies"));
    model_->addItems({tr("Operator counts"), tr("Graph network")});
    model_->setEnabled(false);
    count_ =
        namedNumber(form, "device.count", tr("Networks to list"), tr("How many networks are listed to measure"), 1, 50);
    count_->setValue(8);
    count_->setPrefix(tr("List "));
    list_ = named(
        new QPushButton(tr("Save list …"), form), "device.save", tr("Save the list"),
        tr("What to measure as CSV, with a column to fill in; the device as a file; the predictions as CSV, LaTeX or "
           "a picture"));
    results_ = named(new QPushButton(tr("Open results …"), form), "device.openResults", tr("Open results"),
                     tr("A CSV with network and latency per line; it replaces the text below"));
    topologies_ =
        named(new QPushButton(tr("Topologies …"), form), "device.topologies", tr("Open topologies"),
              tr("A folder with NAME.param or NAME.onnx for the networks of the table, if the table has names"));
    also_ = named(new QPushButton(tr("Predict also …"), form), "device.also", tr("Predict another network"),
                  tr("An ONNX, .param or other model file that was not measured on any device: it comes first among "
                     "the predictions"));
    forget_ = named(new QPushButton(tr("Forget added"), form), "device.forget", tr("Forget added networks"),
                    tr("Removes what Predict also has added"));
    topologies_->setEnabled(false);
    also_->setEnabled(false);
    forget_->setVisible(false);
    row->addWidget(open);
    row->addWidget(topologies_);
    device_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    row->addWidget(device_);
    row->addWidget(model_);
    row->addWidget(also_);
    row->addWidget(forget_);
    row->addWidget(count_);
    row->addWidget(list_);
    row->addWidget(results_);
    connect(topologies_, &QPushButton::clicked, this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Open topologies"));
        if (!folder.isEmpty()) openTopologies(folder);
    });
    connect(also_, &QPushButton::clicked, this, [this] {
        const QString file = QFileDialog::getOpenFileName(this, tr("Predict another network"), {},
                                                          tr("Models (*.onnx *.param *.json *.yaml)"));
        if (!file.isEmpty()) predictAlso(file);
    });
    connect(forget_, &QPushButton::clicked, this, &DeviceTab::forgetAdded);
    connect(open, &QPushButton::clicked, this, [this] {
        const QString file = QFileDialog::getOpenFileName(this, tr("Open known devices"), {}, tr("Tables (*.csv)"));
        if (!file.isEmpty()) openTable(file);
    });
    connect(list_, &QPushButton::clicked, this, [this] {
        const QString file = QFileDialog::getSaveFileName(
            this, tr("Save the list to measure, or the predictions"), QStringLiteral("to-measure.csv"),
            tr("What to measure (*.csv);;Device, for the method edge-device (*.json);;CSV of the predictions "
               "(*.told.csv);;TEX table of the predictions (*.tex);;SVG of the predictions (*.svg);;PDF of the "
               "predictions (*.pdf);;PNG of the predictions "
               "(*.png)"));
        if (file.isEmpty()) return;
        const QString problem = exportList(file);
        problem.isEmpty() ? say(tr("Saved as %1").arg(QFileInfo(file).fileName())) : say(problem, true);
    });
    connect(results_, &QPushButton::clicked, this, [this] {
        const QString file = QFileDialog::getOpenFileName(this, tr("Open results"), {}, tr("Tables (*.csv *.txt)"));
        if (file.isEmpty()) return;
        QFile results(file);
        if (!results.open(QIODevice::ReadOnly)) return say(results.errorString(), true);
        setResults(QString::fromUtf8(results.read(4 << 20)));
    });
    return form;
}

void DeviceTab::say(const QString& text, bool bad) {
    state_->setTone(bad ? ui::Tone::Bad : ui::Tone::Muted);
    state_->setFullText(text);
}

void DeviceTab::refuse(const Diagnostic& why) {
    sayRefusal(*state_, why);
}

bool DeviceTab::isWorking() const {
    return work_->isRunning();
}

void DeviceTab::openTable(const QString& file) {
    say(tr("Reading %1").arg(QFileInfo(file).fileName()));
    work_->ask([path = file.toStdString()](std::stop_token, Progress&) { return openEdgeTable(path); },
               [this](Expected<EdgeTable> table) {
                   if (!table) return refuse(table.error());
                   setAdded({});
                   bare_ = std::make_shared<const EdgeTable>(*table);
                   setTable(std::move(*table));
               });
}

void DeviceTab::setAdded(std::vector<std::string> added) {
    others_ = std::move(added);
    forget_->setVisible(!others_.empty());
}

void DeviceTab::forgetAdded() {
    if (!table_ || others_.empty()) return;
    setAdded({});
    // By name they are part of the table.
    if (table_->space.empty())
        setTable(*bare_);
    else
        ask();
}

void DeviceTab::setTable(EdgeTable table) {
    const QString own = device_->currentData().toString();
    table_ = std::make_shared<const EdgeTable>(std::move(table));
    {
        const QSignalBlocker quiet(device_), alsoQuiet(other_), quietToo(model_);
        const bool byName = table_->space.empty();
        model_->setEnabled(!byName || !table_->graphs.empty());
        if (!model_->isEnabled()) model_->setCurrentIndex(0);
        topologies_->setEnabled(byName);
        also_->setEnabled(model_->isEnabled());
        device_->clear();
        other_->clear();
        other_->addItem(tr("Ranks against …"), QString());
        device_->addItem(tr("A new device"), QString());
        for (const std::string& each : table_->targets) {
            device_->addItem(ui::qs(each), ui::qs(each));
            other_->addItem(ui::qs(each), ui::qs(each));
        }
        device_->setCurrentIndex(std::max(0, device_->findData(own)));
    }
    results_->setEnabled(true);
    ask();
}

void DeviceTab::openTopologies(const QString& folder) {
    if (!table_) return;
    say(tr("Reading topologies"));
    struct Read {
        EdgeTable bare, with;
    };
    // What was added has no file in the folder, and keeps what it is made of.
    work_->ask(
        [table = bare_, path = folder.toStdString(), added = others_](std::stop_token, Progress&) -> Expected<Read> {
            Read read{*table, {}};
            if (auto found = addTopologies(read.bare, path); !found) return tl::unexpected(std::move(found.error()));
            read.with = read.bare;
            for (const std::string& each : added)
                if (auto one = addNetwork(read.with, each); !one) return tl::unexpected(std::move(one.error()));
            return read;
        },
        [this](Expected<Read> read) {
            if (!read) return refuse(read.error());
            bare_ = std::make_shared<const EdgeTable>(std::move(read->bare));
            setTable(std::move(read->with));
        });
}

void DeviceTab::predictAlso(const QString& source) {
    if (!table_) return;
    const std::string name = source.toStdString();
    if (std::find(others_.begin(), others_.end(), name) != others_.end()) return;
    const auto with = [this, name] {
        auto added = others_;
        added.push_back(name);
        return added;
    };
    say(tr("Reading %1").arg(QFileInfo(source).fileName()));
    if (!table_->space.empty()) {
        work_->ask(
            [table = table_, name](std::stop_token, Progress&) -> Expected<bool> {
                const bool code = spaceOfCode(name) == table->space;
                const std::string space = (table->input.empty() ? table->space : table->input) + ":";
                auto read = loadWorkload(
                    {.source = code && !name.starts_with(space) ? space + name : name, .options = {}, .whatIfs = {}});
                if (!read) return tl::unexpected(std::move(read.error()));
                return code;
            },
            [this, with](Expected<bool> code) {
                if (!code) return refuse(code.error());
                setAdded(with());
                // Counts know the codes of their space alone.
                const QSignalBlocker quiet(model_);
                if (!*code) model_->setCurrentIndex(1);
                ask();
            });
        return;
    }
    // By name it becomes one of the table's networks, without a time.
    work_->ask(
        [table = table_, name](std::stop_token, Progress&) -> Expected<EdgeTable> {
            EdgeTable joined = *table;
            if (auto added = addNetwork(joined, name); !added) return tl::unexpected(std::move(added.error()));
            return joined;
        },
        [this, with](Expected<EdgeTable> table) {
            if (!table) return refuse(table.error());
            setAdded(with());
            setTable(std::move(*table));
        });
}

// Words of cells say nothing of another network: with one, operators are read.
EdgeModel DeviceTab::model() const {
    if (!model_->isEnabled() || model_->currentIndex() == 0) return EdgeModel::Additive;
    return others_.empty() ? EdgeModel::Graph : EdgeModel::Operators;
}

void DeviceTab::setResults(const QString& text) {
    measured_->setPlainText(text);
}

void DeviceTab::ask() {
    if (!table_) return;
    const int question = ++question_;
    const auto samples = readOwnSamples(measured_->toPlainText().toStdString());
    if (!samples) {
        work_->cancel();
        return refuse(samples.error());
    }
    OwnDevice device{device_->currentData().toString().toStdString(), *samples};
    BringOptions options;
    options.next = static_cast<std::size_t>(count_->value());
    options.model = model();
    // By name nothing is told before the first sample.
    const bool codes = !table_->space.empty(), counts = options.model == EdgeModel::Additive;
    if (codes || !samples->empty() || !counts) options.tell = others_;
    // Counts know the codes of their space alone; the rest waits for the graph network.
    if (codes && counts)
        std::erase_if(options.tell, [&](const std::string& each) { return spaceOfCode(each) != table_->space; });
    say(tr("Predicting the device from %1 samples").arg(samples->size()));
    work_->ask(
        [table = table_, device = std::move(device), options, kept = kept_](std::stop_token stop,
                                                                            Progress&) mutable -> Expected<Found> {
            options.stop = stop;
            if (!kept->others || kept->table != table || kept->device != device.name || kept->model != options.model) {
                auto others = learnOthers(*table, device.name, options);
                if (!others) return tl::unexpected(std::move(others.error()));
                *kept = {table, device.name, options.model, std::move(*others)};
            }
            auto told = bringDevice(*table, device, options, kept->others);
            // What was added takes nothing from the answer about the table's own networks.
            if (!told && !options.tell.empty() && !stop.stop_requested()) {
                const Diagnostic why = told.error();
                options.tell.clear();
                told = bringDevice(*table, device, options, kept->others);
                if (told) told->notes.push_back(why);
            }
            if (!told) return tl::unexpected(std::move(told.error()));
            auto steps = sampleSteps(*table, device, options, kept->others);
            if (!steps) return tl::unexpected(std::move(steps.error()));
            return Found{std::move(*told), std::move(*steps), std::move(device)};
        },
        [this, question](Expected<Found> found) {
            if (question != question_) return;
            if (!found) return found.error().code == "edge.stopped" ? void() : refuse(found.error());
            show(*found);
        });
}

void DeviceTab::show(const Found& found) {
    answer_ = std::make_shared<const BroughtDevice>(found.told);
    answered_ = found.device;
    const BroughtDevice& told = *answer_;
    std::vector<std::vector<ui::Cell>> next, all;
    for (const NextMeasurement& each : told.next) {
        next.push_back({{ui::qs(each.network), 0, {}, ui::Tone::Normal, false},
                        {shareText(each.error), each.error, {}, ui::Tone::Normal, true}});
    }
    next_->setCells({tr("Measure next"), tr("Error then")}, std::move(next));
    const auto add = [&](const EdgePrediction& each, bool other) {
        const QString name = ui::qs(each.network), file = QFileInfo(name).fileName();
        const bool doubted = other && each.doubt != EdgeDoubt::None;
        all.push_back({{other ? tr("%1 (added)").arg(file) : name, 0, other ? name : QString(),
                        doubted ? ui::Tone::Warning : ui::Tone::Normal, false},
                       numberCell(each.predicted.mean),
                       numberCell(each.predicted.low),
                       numberCell(each.predicted.high),
                       numberCell(each.measured)});
    };
    for (const EdgePrediction& each : told.others) add(each, true);
    for (const EdgePrediction& each : told.told)
        if (std::find(others_.begin(), others_.end(), each.network) == others_.end()) add(each, false);
    told_->setCells({tr("Network"), tr("Predicted ms"), tr("From"), tr("To"), tr("Measured")}, std::move(all));
    std::vector<ui::SampleMark> marks;
    for (const SampleStep& each : found.steps)
        marks.push_back({static_cast<int>(each.samples), each.said, each.error, false, each.width, each.rank});
    constexpr double notThere = std::numeric_limits<double>::quiet_NaN();
    const int before = marks.empty() ? 0 : marks.back().samples;
    for (std::size_t i = 0; i < told.next.size(); ++i) {
        marks.push_back({before + static_cast<int>(i) + 1, told.next[i].error, notThere, true, notThere, notThere});
    }
    curve_->setMarks(std::move(marks));
    showRanks();
    list_->setEnabled(!told.next.empty());
    QString text = tr("%1 known devices, %2 networks, %3 samples.")
                       .arg(told.knownDevices)
                       .arg(table_->networks.size())
                       .arg(before);
    if (before > 0 && std::isfinite(told.error))
        text += tr(" Expected error %1 (median), intervals ×%2.").arg(shareText(told.error)).arg(told.width, 0, 'f', 2);
    const SampleStep* judged = nullptr;
    for (const SampleStep& each : found.steps)
        if (std::isfinite(each.error)) judged = &each;
    if (judged) {
        text += tr(" After %1 samples the error on the next ones was %2; rank correlation %3; coverage %4.")
                    .arg(judged->samples)
                    .arg(shareText(judged->error))
                    .arg(judged->rank, 0, 'f', 3)
                    .arg(shareText(judged->held));
    }
    if (told.graph() && told.simple)
        text += tr(
            " A graph network was fitted, but a simple model is used: its error on held-out samples was not larger.");
    else if (told.graph())
        text += tr(" A graph network predicts; it was fitted to the known devices.");
    else if (told.simple)
        text += tr(" A simple model is used: its error on held-out samples was not larger.");
    for (const EdgePrediction& each : told.others)
        if (each.doubt == EdgeDoubt::Outside)
            text += tr(" %1 is unlike all networks of the table.").arg(QFileInfo(ui::qs(each.network)).fileName());
    if (!table_->space.empty() && model() == EdgeModel::Additive && told.others.size() < others_.size())
        text += tr(" Only the graph network predicts networks that were added.");
    for (const Diagnostic& note : told.notes)
        text += QLatin1Char(' ') + ui::windowText(note.message) + QLatin1Char('.');
    say(text);
}

QString DeviceTab::exportList(const QString& file) const {
    if (!answer_) return tr("There is no list yet");
    // What was told, as a picture or a table; the list is the file that is filled in and opened again.
    if (file.endsWith(QLatin1String(".json"), Qt::CaseInsensitive)) {
        OwnDevice device = answered_;
        if (device.name.empty()) device.name = tr("the new device").toStdString();
        const auto made = deviceFileOf(*answer_, *table_, device);
        if (!made) return ui::windowText(made.error().message);
        return ui::writeText(file, QByteArray::fromStdString(writeDeviceFile(*made)));
    }
    if (!file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive))
        return writeShown(file, {{}, told_, [this] { return csvOf(*told_); }, {}});
    if (file.endsWith(QLatin1String(".told.csv"), Qt::CaseInsensitive))
        return ui::writeText(file, QByteArray::fromStdString(csvOf(*told_)));
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly)) return out.errorString();
    out.write(QByteArray::fromStdString(toMeasureAsCsv(answer_->next)));
    return out.commit() ? QString() : out.errorString();
}

}  // namespace orrery::app
