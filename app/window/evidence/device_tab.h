#pragma once

// Bring your device: a table of devices that others measured, a list of what to measure next on one's own, results
// pasted or opened, and after each sample what is said of all other networks and how wrong that is.

#include "evaluation/edge/bring_device.h"

#include <QWidget>

#include <memory>
#include <string>
#include <vector>

class QComboBox;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class CellsTable;
class Label;
class RankMatrix;
class SampleCurve;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

class DeviceTab : public QWidget {
    Q_OBJECT
public:
    explicit DeviceTab(QWidget* parent = nullptr);
    /// A table with a column per device, or one whose columns are named as in the published sets.
    void openTable(const QString& file);
    /// A folder of `.param` and `.onnx` files of the table's networks, where it names them.
    void openTopologies(const QString& folder);
    /// A network that no device was measured with: any workload's file or id, or a code. It is read first; one that
    /// cannot be read is refused and nothing else changes.
    void predictAlso(const QString& source);
    void forgetAdded();  ///< those networks
    void setResults(const QString& text);  ///< network,latency per line
    /// The list to be filled in, what is predicted, or the device as a file, by the ending; an error text, empty if
    /// done.
    QString exportList(const QString& file) const;
    const BroughtDevice* answer() const { return answer_.get(); }
    bool isWorking() const;
    /// Confusion of ranks: this device (by what is told of it, or the measured one of the table) against another.
    void compareWith(const QString& other);

private:
    struct Found {
        BroughtDevice told;
        std::vector<SampleStep> steps;
        OwnDevice device;
    };
    /// Read and written by the background's jobs alone, of which one runs at a time.
    struct Kept {
        std::shared_ptr<const EdgeTable> table;
        std::string device;
        EdgeModel model = EdgeModel::Additive;
        OthersKnownPtr others;
    };
    QWidget* buildForm();
    QWidget* buildPictures(QWidget* parent);
    void showRanks();
    void setTable(EdgeTable table);
    void setAdded(std::vector<std::string> added);
    EdgeModel model() const;
    void ask();
    void refuse(const Diagnostic& why);
    void show(const Found& found);
    void say(const QString& text, bool bad = false);

    std::shared_ptr<const EdgeTable> table_, bare_;  ///< with and without networks that were added by name
    std::shared_ptr<const BroughtDevice> answer_;
    OwnDevice answered_;                                     ///< what was measured of it then
    std::vector<std::string> others_;                        ///< predicted beside the table's networks
    std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();  ///< what was learned last of the known devices
    QComboBox* device_;
    QComboBox* model_;
    QSpinBox* count_;
    QPushButton *list_, *results_, *topologies_, *also_, *forget_;
    QPlainTextEdit* measured_;
    ui::Label* state_;
    ui::SampleCurve* curve_;
    ui::RankMatrix* ranks_;
    QComboBox* other_;
    int question_ = 0;  ///< answers to an earlier one are left aside
    ui::CellsTable *next_, *told_;
    Background* work_;
};

}  // namespace orrery::app
